/** avg_pool3d: avg_pool2d over three axes: dst[n, z, y, x, c] = the mean of src[n, z s - front + h, y s - top + i,
 *  x s - left + j, c] over a window
 *
 *  src      f32 or f64, [n, depth, height, width, channels]
 *  size     of a window: one number, or numbers of slices, rows and columns
 *  strides  s, default size
 *  padding  as in conv3d; the mean is taken over the elements inside src, as in TensorFlow
 *  pads     as in conv3d
 *  dst      src's dtype, [n, slices, rows, columns, channels]; 0 if a window lies outside src
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_avg_pool3d_with(mst_pool2d_options options);
#define mst_avg_pool3d(...) mst_avg_pool3d_with(MST_NAMED_2(mst_pool2d_options, src, size, __VA_ARGS__))
#endif
#include "op/list.h"
#include "op/op.h"
#include "op/pool/pool.h"

static mst_value avg_pool3d_grad(mst_grad *c, int i) {
    (void)i;
    return mst_pool_with_gradient(&mst_op_avg_pool2d_grad, c->options, c->src[0], c->ddst[0]);
}

static mst_status avg_pool3d_reference(const mst_kernel_args *a) {
    return mst_pool_run(a, (const mst_pool_function[]){mst_avg_pool_f32, mst_avg_pool_f64});
}

/* the expected results of the examples */
#define ONE_WINDOW 4.5
#define OVER_SLICES 3, 4, 5, 6
#define PADDED 2.5, 1, 2.5, 6.5
#include "op/pool/pool3d_examples.inc"

const mst_op mst_op_avg_pool3d = {
    .name = "avg_pool3d",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_pool_fields,
    .options_size = sizeof(mst_pool2d_options),
    .infer = mst_pool_infer_deep,
    .grad = avg_pool3d_grad,
    .reference = avg_pool3d_reference,
    .lower = mst_avg_pool_lower,
    MST_EXAMPLES(pool3d_examples),
};

mst_value mst_avg_pool3d_with(mst_pool2d_options options) {
    return mst_pool_again(&mst_op_avg_pool3d, &options, options.src);
}
