/** logical_and: dst = a and b
 *
 *  a, b  shapes that broadcast as in NumPy, bool
 *  dst   bool, the broadcast shape; may alias either
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_logical_and(mst_value a, mst_value b);
#endif
#include "op/elementwise/elementwise.h"

#define OP logical_and
#define FORMULA (x && y)
#include "op/binary/binary_bools.inc"

/* the expected results of the examples in logical_examples.inc */
enum { NEITHER = 0, ONE = 0, BOTH = 1 };
#include "op/binary/logical_examples.inc"

const mst_op mst_op_logical_and = {
    .name = "logical_and",
    .tf_form = "LogicalAnd($0, $1)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_DTYPE_BIT(MST_BOOL),
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_binary,
    .reference = logical_and_reference,
    .hlo = "and",
    MST_EXAMPLES(logical_examples),
};

mst_value mst_logical_and(mst_value a, mst_value b) {
    return mst_call(NULL, &mst_op_logical_and, 2, (const mst_value[]){a, b}, NULL);
}
