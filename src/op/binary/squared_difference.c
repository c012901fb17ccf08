/** squared_difference: dst = (a - b)^2
 *
 *  a, b  shapes that broadcast as in NumPy, of one dtype: f32, f64, i32, i64 or u8
 *  dst   the broadcast shape, of their dtype; may alias either
 *
 *  Integers wrap around.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_squared_difference(mst_value a, mst_value b);
#endif
#include "op/elementwise/elementwise.h"

static mst_value squared_difference_grad(mst_grad *c, int i) {
    mst_value gradient = mst_scale(mst_mul(c->ddst[0], mst_sub(c->src[0], c->src[1])), i == 0 ? 2 : -2);
    return mst_unbroadcast(gradient, c->src[i]);
}

static void squared_difference_lower(mst_lower *l) {
    const mst_hlo difference = mst_hlo_binary(l, "subtract", l->src[0], l->src[1]);
    l->dst[0] = mst_hlo_binary(l, "multiply", difference, difference);
}

#define OP squared_difference
#define WORK MODULAR /* integers wrap around */
#define FORMULA ((x - y) * (x - y))
#include "op/binary/binary_numbers.inc"

/* the expected results of the examples in broadcast_examples.inc */
#define LAST_AXIS 25, 25, 25, 64, 64, 81
#define OUTER 36, 25, 9, 64, 49, 25
#define SCALAR 9, 16, 49
static const mst_example squared_difference_examples[] = {
    {.num_src = 2,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){3, 4, 9}},
             {.ndim = 1, .dim = {3}, .value = (const double[]){0, 5, 5}}},
     .expect = {(const double[]){9, 1, 16}}},
#include "op/binary/broadcast_examples.inc"
    {.num_src = 2,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {2}, .value = (const double[]){-3, -0x1p31}},
             {.dtype = MST_I32, .ndim = 1, .dim = {2}, .value = (const double[]){4, 0}}},
     .expect = {(const double[]){49, 0}}},
    {.num_src = 2, .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 2, .dim = {2, 3}}}},
    {.num_src = 2, .src = {{.ndim = 3, .dim = {2, 1, 4}}, {.ndim = 2, .dim = {3, 1}}}},
    MST_BINARY_EXAMPLES,
};

const mst_op mst_op_squared_difference = {
    .name = "squared_difference",
    .tf_form = "SquaredDifference($0, $1)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_binary,
    .grad = squared_difference_grad,
    .reference = squared_difference_reference,
    .lower = squared_difference_lower,
    MST_EXAMPLES(squared_difference_examples),
};

mst_value mst_squared_difference(mst_value a, mst_value b) {
    return mst_call(NULL, &mst_op_squared_difference, 2, (const mst_value[]){a, b}, NULL);
}
