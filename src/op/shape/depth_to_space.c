/** depth_to_space: dst[n, y block + i, x block + j, c] = src[n, y, x, (i block + j) channels + c]
 *
 *  src         any dtype, [n, height, width, channels block_size^2]
 *  block_size  at least 2
 *  dst         src's dtype, [n, height block_size, width block_size, channels]
 *
 *  As in TensorFlow. Its inverse is space_to_depth.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_depth_to_space_with(mst_depth_blocks_options options);
#define mst_depth_to_space(...) \
    mst_depth_to_space_with(MST_NAMED_2(mst_depth_blocks_options, src, block_size, __VA_ARGS__))
#endif
#include "op/list.h"
#include "op/op.h"
#include "op/shape/depth_blocks.h"

static mst_status depth_to_space_infer(mst_infer *c) {
    return mst_depth_blocks_infer(c, false);
}

static mst_value depth_to_space_grad(mst_grad *c, int i) {
    (void)i;
    return mst_call(NULL, &mst_op_space_to_depth, 1, &c->ddst[0], c->options);
}

static void depth_to_space_lower(mst_lower *l) {
    mst_depth_blocks_lower(l, false);
}

static mst_status depth_to_space_reference(const mst_kernel_args *a) {
    return mst_depth_blocks_copy(a, false);
}

static const mst_example depth_to_space_examples[] = {
    {.name = "a picture of one channel",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {1, 1, 2, 4}, .value = (const double[]){1, 0, 5, 6, 3, 4, 7, 8}}},
     .dtypes = MST_NUMBERS,
     .options = &(const mst_depth_blocks_options){.block_size = 2},
     .expect = {(const double[]){1, 0, 3, 4, 5, 6, 7, 8}}},
    {.name = "all dtypes",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {1, 1, 2, 4}, .value = (const double[]){1, 0, 1, 1, 0, 0, 1, 0}}},
     .options = &(const mst_depth_blocks_options){.block_size = 2},
     .expect = {(const double[]){1, 0, 0, 0, 1, 1, 1, 0}}},
    {.name = "channels, blocks of three",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {2, 2, 3, 45}}},
     .options = &(const mst_depth_blocks_options){.block_size = 3}},
    {.name = "no pictures",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {0, 2, 2, 4}}},
     .options = &(const mst_depth_blocks_options){.block_size = 2}},
    {.name = "channels are no multiple",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {1, 2, 2, 6}}},
     .options = &(const mst_depth_blocks_options){.block_size = 2},
     .fails = MST_INVALID},
    {.name = "no block size", .num_src = 1, .src = {{.ndim = 4, .dim = {1, 2, 2, 4}}}, .fails = MST_INVALID},
    {.name = "three dimensions",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {2, 2, 4}}},
     .options = &(const mst_depth_blocks_options){.block_size = 2},
     .fails = MST_INVALID},
};

const mst_op mst_op_depth_to_space = {
    .name = "depth_to_space",
    .tf_form = "DepthToSpace($0; block_size=block_size data_format='NHWC')",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_ALL_DTYPES,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_depth_blocks_fields,
    .options_size = sizeof(mst_depth_blocks_options),
    .infer = depth_to_space_infer,
    .grad = depth_to_space_grad,
    .reference = depth_to_space_reference,
    .lower = depth_to_space_lower,
    MST_EXAMPLES(depth_to_space_examples),
};

mst_value mst_depth_to_space_with(mst_depth_blocks_options options) {
    return mst_call(NULL, &mst_op_depth_to_space, 1, &options.src, &options);
}
