/** maximum: dst = the larger of a and b
 *
 *  a, b  shapes that broadcast as in NumPy, of one dtype: f32, f64, i32, i64 or u8
 *  dst   the broadcast shape, of their dtype; may alias either
 *
 *  NaN if either is NaN.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_maximum(mst_value a, mst_value b);
#endif
#include "op/elementwise/elementwise.h"

/* if both are equal, the first takes the whole gradient */
static mst_value maximum_grad(mst_grad *c, int i) {
    mst_value first = mst_greater_equal(c->src[0], c->src[1]), zero = mst_number(c->ddst[0], 0);
    mst_value gradient = i == 0 ? mst_select(first, c->ddst[0], zero) : mst_select(first, zero, c->ddst[0]);
    return mst_unbroadcast(gradient, c->src[i]);
}

/* the result is NaN if either is NaN */
#define OP maximum
#define FORMULA (x > y || IS_NAN(x) ? x : y)
#include "op/binary/binary_numbers.inc"

/* the expected results of the examples in extreme_examples.inc */
#define ONE_AXIS 3, 5, 6
#define LAST_AXIS 3, 5, 6, 4, 4, 9
#define OUTER 3, 4, 9, 6, 6, 9
#define SCALAR 2, 3, 5
#define NEGATIVE 2, 4
#include "op/binary/extreme_examples.inc"

const mst_op mst_op_maximum = {
    .name = "maximum",
    .tf_form = "Maximum($0, $1)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_binary,
    .grad = maximum_grad,
    .reference = maximum_reference,
    .hlo = "maximum",
    MST_EXAMPLES(extreme_examples),
};

mst_value mst_maximum(mst_value a, mst_value b) {
    return mst_call(NULL, &mst_op_maximum, 2, (const mst_value[]){a, b}, NULL);
}
