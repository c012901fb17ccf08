/** max_pool3d: max_pool2d over three axes: dst[n, z, y, x, c] = the largest of src[n, z s - front + h, y s - top + i,
 *  x s - left + j, c] in a window
 *
 *  src      f32 or f64, [n, depth, height, width, channels]
 *  size     of a window: one number, or slices, rows and columns
 *  strides  s, default size
 *  padding  as in conv3d; what lies around src is not counted
 *  pads     as in conv3d
 *  dst      src's dtype, [n, slices, rows, columns, channels]
 *
 *  NaN stays NaN. A window that lies outside gives minus infinity. The gradient goes to the first of equal elements.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_max_pool3d_with(mst_pool2d_options options);
#define mst_max_pool3d(...) mst_max_pool3d_with(MST_NAMED_2(mst_pool2d_options, src, size, __VA_ARGS__))
#endif
#include "op/list.h"
#include "op/op.h"
#include "op/pool/pool.h"

static mst_value max_pool3d_grad(mst_grad *c, int i) {
    (void)i;
    return mst_pool_with_gradient(&mst_op_max_pool2d_grad, c->options, c->src[0], c->ddst[0]);
}

static mst_status max_pool3d_reference(const mst_kernel_args *a) {
    return mst_pool_run(a, (const mst_pool_function[]){mst_max_pool_f32, mst_max_pool_f64});
}

/* clang-format off */
#define CUBE {.ndim = 5, .dim = {1, 2, 2, 2, 1}, .value = (const double[]){1, 2, 3, 4, 5, 6, 7, 8}}
/* clang-format on */

static const mst_example max_pool3d_examples[] = {
    {.name = "one window",
     .num_src = 1,
     .src = {CUBE},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {2}}},
     .expect = {(const double[]){8}}},
    {.name = "windows over slices alone",
     .num_src = 1,
     .src = {CUBE},
     .options = &(const mst_pool2d_options){.size = {.count = 3, .axis = {2, 1, 1}}},
     .expect = {(const double[]){5, 6, 7, 8}}},
    {.name = "pads in front and behind",
     .num_src = 1,
     .src = {{.ndim = 5, .dim = {1, 2, 1, 4, 1}, .value = (const double[]){1, 4, 2, 0, 1, 4, 5, 8}}},
     .options = &(const mst_pool2d_options){.size = {.count = 3, .axis = {2, 1, 2}},
                                            .pads = {.count = 6, .axis = {1, 1, 0, 0, 0, 0}}},
     .expect = {(const double[]){4, 2, 4, 8}}},
    {.name = "channels, sizes and strides of each axis",
     .num_src = 1,
     .src = {{.ndim = 5, .dim = {2, 4, 5, 6, 5}}},
     .options = &(const mst_pool2d_options){.size = {.count = 3, .axis = {2, 3, 1}},
                                            .strides = {.count = 3, .axis = {1, 2, 3}}}},
    {.name = "windows that overlap, same",
     .num_src = 1,
     .src = {{.ndim = 5, .dim = {1, 3, 4, 3, 2}}},
     .options =
         &(const mst_pool2d_options){
             .size = {.count = 1, .axis = {3}}, .strides = {.count = 1, .axis = {2}}, .padding = MST_PADDING_SAME}},
    {.name = "no size", .num_src = 1, .src = {CUBE}, .fails = MST_INVALID},
    {.name = "a size of two numbers",
     .num_src = 1,
     .src = {CUBE},
     .options = &(const mst_pool2d_options){.size = {.count = 2, .axis = {2, 2}}},
     .fails = MST_INVALID},
    {.name = "a size of 0",
     .num_src = 1,
     .src = {CUBE},
     .options = &(const mst_pool2d_options){.size = {.count = 3, .axis = {1, 1, 0}}},
     .fails = MST_INVALID},
    {.name = "four dimensions",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {1, 3, 3, 1}}},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_max_pool3d = {
    .name = "max_pool3d",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_pool_fields,
    .options_size = sizeof(mst_pool2d_options),
    .infer = mst_pool_infer_deep,
    .grad = max_pool3d_grad,
    .reference = max_pool3d_reference,
    MST_EXAMPLES(max_pool3d_examples),
};

mst_value mst_max_pool3d_with(mst_pool2d_options options) {
    return mst_pool_again(&mst_op_max_pool3d, &options, options.src);
}
