/** is_inf: dst = src is +Inf or -Inf
 *
 *  src  any shape, f32 or f64
 *  dst  bool, the shape of src
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_is_inf(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

static void is_inf_lower(mst_lower *l) {
    const mst_hlo infinity = mst_hlo_number(l, l->src_spec[0].dtype, INFINITY);
    l->dst[0] = mst_hlo_compare(l, "EQ", mst_hlo_unary(l, "abs", l->src[0]), infinity);
}

#define OP is_inf
#define RESULT uint8_t
#define FORMULA (isinf(x) != 0)
#include "op/unary/unary_floats.inc"

enum { OF_NUMBER = 0, OF_INF = 1, OF_NAN = 0 };
#include "op/unary/predicate_examples.inc"

const mst_op mst_op_is_inf = {
    .name = "is_inf",
    .tf_form = "IsInf($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_predicate,
    .reference = is_inf_reference,
    .lower = is_inf_lower,
    MST_EXAMPLES(predicate_examples),
};

mst_value mst_is_inf(mst_value src) {
    return mst_call(NULL, &mst_op_is_inf, 1, &src, NULL);
}
