/** greater_equal: dst = a >= b
 *
 *  a, b  shapes that broadcast as in NumPy, of one dtype: f32, f64, i32, i64 or u8
 *  dst   bool, the broadcast shape
 *
 *  False if either is NaN.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_greater_equal(mst_value a, mst_value b);
#endif
#include "op/elementwise/elementwise.h"

static void greater_equal_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_compare(l, "GE", l->src[0], l->src[1]);
}

#define OP greater_equal
#define RESULT uint8_t
#define FORMULA (x >= y)
#include "op/binary/binary_numbers.inc"

/* the expected results of the examples in comparison_examples.inc */
enum { LESS = 0, EQUAL = 1, GREATER = 1, UNORDERED = 0 };
#define OF_BOOL MST_INVALID
#include "op/binary/comparison_examples.inc"

const mst_op mst_op_greater_equal = {
    .name = "greater_equal",
    .tf_form = "GreaterEqual($0, $1)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_comparison,
    .reference = greater_equal_reference,
    .lower = greater_equal_lower,
    MST_EXAMPLES(comparison_examples),
};

mst_value mst_greater_equal(mst_value a, mst_value b) {
    return mst_call(NULL, &mst_op_greater_equal, 2, (const mst_value[]){a, b}, NULL);
}
