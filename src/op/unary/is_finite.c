/** is_finite: dst = src is neither Inf nor NaN
 *
 *  src  any shape, f32 or f64
 *  dst  bool, the shape of src
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_is_finite(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

#define OP is_finite
#define RESULT uint8_t
#define FORMULA isfinite(x)
#include "op/unary/unary_floats.inc"

enum { OF_NUMBER = 1, OF_INF = 0, OF_NAN = 0 };
#include "op/unary/predicate_examples.inc"

const mst_op mst_op_is_finite = {
    .name = "is_finite",
    .tf_form = "IsFinite($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_predicate,
    .reference = is_finite_reference,
    .hlo = "is_finite",
    MST_EXAMPLES(predicate_examples),
};

mst_value mst_is_finite(mst_value src) {
    return mst_call(NULL, &mst_op_is_finite, 1, &src, NULL);
}
