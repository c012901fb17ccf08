/** max_pool2d: dst[n, y, x, c] = the largest of src[n, y s - top + i, x s - left + j, c] in a window
 *
 *  src      f32 or f64, [n, height, width, channels]
 *  size     rows and columns of a window
 *  strides  s, default size
 *  padding  as in conv2d; only elements inside src are compared
 *  pads     as in conv2d
 *  dst      src's dtype, [n, rows, columns, channels]
 *
 *  NaN stays NaN. A window outside src gives minus infinity. If elements are equal, the gradient goes to the first.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_max_pool2d_with(mst_pool2d_options options);
#define mst_max_pool2d(...) mst_max_pool2d_with(MST_NAMED_2(mst_pool2d_options, src, size, __VA_ARGS__))
#endif
#include <math.h>

#include "op/list.h"
#include "op/op.h"
#include "op/pool/pool.h"

static mst_value max_pool2d_grad(mst_grad *c, int i) {
    (void)i;
    return mst_pool_with_gradient(&mst_op_max_pool2d_grad, c->options, c->src[0], c->ddst[0]);
}

static mst_status max_pool2d_reference(const mst_kernel_args *a) {
    return mst_pool_run(a, (const mst_pool_function[]){mst_max_pool_f32, mst_max_pool_f64});
}

/* the expected results of the examples */
#define OVERLAPPING 7, 6, 8, 9
#define SAME 7, 6, 6, 8, 9, 9, 8, 9, 9
#define STRIDES_ARE_SIZE 7, 6, 8, 9
#define PADDED 7, 7, 3, 7, 7, 6, 4, 8, 9
#define PAIRS 2, 4, NAN, NAN
#define OUTSIDE 3, 4, -INFINITY
#include "op/pool/pool2d_examples.inc"

const mst_op mst_op_max_pool2d = {
    .name = "max_pool2d",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_pool_fields,
    .options_size = sizeof(mst_pool2d_options),
    .infer = mst_pool_infer,
    .grad = max_pool2d_grad,
    .reference = max_pool2d_reference,
    .lower = mst_max_pool_lower,
    MST_EXAMPLES(pool2d_examples),
};

mst_value mst_max_pool2d_with(mst_pool2d_options options) {
    return mst_pool_again(&mst_op_max_pool2d, &options, options.src);
}
