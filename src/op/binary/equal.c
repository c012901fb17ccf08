/** equal: dst = a == b
 *
 *  a, b  shapes that broadcast as in NumPy, of one dtype
 *  dst   bool, the broadcast shape; may alias either if they are bool
 *
 *  Strings are equal if they have the same length and the same bytes.
 *  NaN is equal to nothing, not even to itself.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_equal(mst_value a, mst_value b);
#endif
#include "op/elementwise/elementwise.h"

static void equal_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_compare(l, "EQ", l->src[0], l->src[1]);
}

#define OP equal_numbers
#define RESULT uint8_t
#define FORMULA (x == y)
#include "op/binary/binary_numbers.inc"

static mst_status equal_reference(const mst_kernel_args *a) {
    if (a->src[0].dtype != MST_STRING) return equal_numbers_reference(a);
    mst_compare_strings(a, true);
    return MST_OK;
}

/* the expected results of the examples in comparison_examples.inc */
enum { LESS = 0, EQUAL = 1, GREATER = 0, UNORDERED = 0 };
#define OF_BOOL MST_OK
#include "op/binary/comparison_examples.inc"

const mst_op mst_op_equal = {
    .name = "equal",
    .tf_form = "Equal($0, $1; incompatible_shape_error=true)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_ALL_DTYPES | MST_DTYPE_BIT(MST_STRING),
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_comparison,
    .reference = equal_reference,
    .lower = equal_lower,
    MST_EXAMPLES(comparison_examples),
};

mst_value mst_equal(mst_value a, mst_value b) {
    return mst_call(NULL, &mst_op_equal, 2, (const mst_value[]){a, b}, NULL);
}
