/** space_to_depth: dst[n, y, x, (i block + j) channels + c] = src[n, y block + i, x block + j, c]
 *
 *  src         any dtype, [n, height, width, channels], height and width multiples of block_size
 *  block_size  at least 2
 *  dst         src's dtype, [n, height / block_size, width / block_size, channels block_size^2]
 *
 *  As in TensorFlow. Its inverse is depth_to_space.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_space_to_depth_with(mst_depth_blocks_options options);
#define mst_space_to_depth(...) \
    mst_space_to_depth_with(MST_NAMED_2(mst_depth_blocks_options, src, block_size, __VA_ARGS__))
#endif
#include "op/list.h"
#include "op/op.h"
#include "op/shape/depth_blocks.h"

static mst_status space_to_depth_infer(mst_infer *c) {
    return mst_depth_blocks_infer(c, true);
}

static mst_value space_to_depth_grad(mst_grad *c, int i) {
    (void)i;
    return mst_call(NULL, &mst_op_depth_to_space, 1, &c->ddst[0], c->options);
}

static void space_to_depth_lower(mst_lower *l) {
    mst_depth_blocks_lower(l, true);
}

static mst_status space_to_depth_reference(const mst_kernel_args *a) {
    return mst_depth_blocks_copy(a, true);
}

static const mst_example space_to_depth_examples[] = {
    {.name = "a picture of one channel",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {1, 2, 4, 1}, .value = (const double[]){1, 0, 3, 4, 5, 6, 7, 8}}},
     .dtypes = MST_NUMBERS,
     .options = &(const mst_depth_blocks_options){.block_size = 2},
     .expect = {(const double[]){1, 0, 5, 6, 3, 4, 7, 8}}},
    {.name = "all dtypes",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {1, 2, 2, 2}, .value = (const double[]){1, 0, 1, 1, 0, 0, 1, 0}}},
     .options = &(const mst_depth_blocks_options){.block_size = 2},
     .expect = {(const double[]){1, 0, 1, 1, 0, 0, 1, 0}}},
    {.name = "channels, blocks of three",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {2, 6, 9, 5}}},
     .options = &(const mst_depth_blocks_options){.block_size = 3}},
    {.name = "no pictures",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {0, 2, 2, 1}}},
     .options = &(const mst_depth_blocks_options){.block_size = 2}},
    {.name = "rows are no multiple",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {1, 3, 2, 1}}},
     .options = &(const mst_depth_blocks_options){.block_size = 2},
     .fails = MST_INVALID},
    {.name = "blocks of one",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {1, 2, 2, 1}}},
     .options = &(const mst_depth_blocks_options){.block_size = 1},
     .fails = MST_INVALID},
    {.name = "three dimensions",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {2, 2, 1}}},
     .options = &(const mst_depth_blocks_options){.block_size = 2},
     .fails = MST_INVALID},
};

const mst_op mst_op_space_to_depth = {
    .name = "space_to_depth",
    .tf_form = "SpaceToDepth($0; block_size=block_size data_format='NHWC')",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_ALL_DTYPES,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_depth_blocks_fields,
    .options_size = sizeof(mst_depth_blocks_options),
    .infer = space_to_depth_infer,
    .grad = space_to_depth_grad,
    .reference = space_to_depth_reference,
    .lower = space_to_depth_lower,
    MST_EXAMPLES(space_to_depth_examples),
};

mst_value mst_space_to_depth_with(mst_depth_blocks_options options) {
    return mst_call(NULL, &mst_op_space_to_depth, 1, &options.src, &options);
}
