/** logical_not: dst = not src
 *
 *  src  any shape, bool
 *  dst  like src; may alias it
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_logical_not(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

#define OP logical_not
#define FORMULA (!x)
#define T uint8_t
#define MST_NAME(name) MST_JOIN(name, u8)
#include "op/unary/unary.inc"

static const mst_example logical_not_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){0, 1, 1}}},
     .expect = {(const double[]){1, 0, 0}}},
    {.num_src = 1, .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}}}, .fails = MST_INVALID},
};

const mst_op mst_op_logical_not = {
    .name = "logical_not",
    .tf_form = "LogicalNot($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_DTYPE_BIT(MST_BOOL),
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .reference = logical_not_u8,
    .hlo = "not",
    MST_EXAMPLES(logical_not_examples),
};

mst_value mst_logical_not(mst_value src) {
    return mst_call(NULL, &mst_op_logical_not, 1, &src, NULL);
}
