/** is_nan: dst = src is NaN
 *
 *  src  any shape, f32 or f64
 *  dst  bool, the shape of src
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_is_nan(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

static void is_nan_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_compare(l, "NE", l->src[0], l->src[0]);
}

#define OP is_nan
#define RESULT uint8_t
#define FORMULA isnan(x)
#include "op/unary/unary_floats.inc"

enum { OF_NUMBER = 0, OF_INF = 0, OF_NAN = 1 };
#include "op/unary/predicate_examples.inc"

const mst_op mst_op_is_nan = {
    .name = "is_nan",
    .tf_form = "IsNan($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_predicate,
    .reference = is_nan_reference,
    .lower = is_nan_lower,
    MST_EXAMPLES(predicate_examples),
};

mst_value mst_is_nan(mst_value src) {
    return mst_call(NULL, &mst_op_is_nan, 1, &src, NULL);
}
