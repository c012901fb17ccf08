/** max_pool3d: max_pool2d over three axes: dst[n, z, y, x, c] = the largest of src[n, z s - front + h, y s - top + i,
 *  x s - left + j, c] in a window
 *
 *  src      f32 or f64, [n, depth, height, width, channels]
 *  size     of a window: one number, or numbers of slices, rows and columns
 *  strides  s, default size
 *  padding  as in conv3d; only elements inside src are compared
 *  pads     as in conv3d
 *  dst      src's dtype, [n, slices, rows, columns, channels]
 *
 *  NaN stays NaN. A window outside src gives minus infinity. If elements are equal, the gradient goes to the first.
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

/* the expected results of the examples */
#define ONE_WINDOW 8
#define OVER_SLICES 5, 6, 7, 8
#define PADDED 4, 2, 4, 8
#include "op/pool/pool3d_examples.inc"

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
    .lower = mst_max_pool_lower,
    MST_EXAMPLES(pool3d_examples),
};

mst_value mst_max_pool3d_with(mst_pool2d_options options) {
    return mst_pool_again(&mst_op_max_pool3d, &options, options.src);
}
