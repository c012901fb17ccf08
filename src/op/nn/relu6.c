/** relu6: dst = min(max(src, 0), 6)
 *
 *  src  any shape, f32, f64, i32, i64 or u8
 *  dst  like src; may alias it
 *
 *  NaN stays NaN.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_relu6(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

/* The derivative at 0 and at 6 is 0. */
static mst_value relu6_grad(mst_grad *c, int i) {
    (void)i;
    return mst_relu6_grad(c->ddst[0], c->dst[0]);
}

static void relu6_lower(mst_lower *l) {
    const mst_dtype dtype = l->src_spec[0].dtype;
    l->dst[0] = mst_hlo_clamp(l, mst_hlo_number(l, dtype, 0), l->src[0], mst_hlo_number(l, dtype, 6));
}

/* the comparisons keep NaN as NaN */
#define OP relu6
#define FORMULA (IS_NEGATIVE(x) ? 0 : x > 6 ? 6 : x)
#include "op/unary/unary_numbers.inc"

/* For the examples: the result for x above 6, and the slope at 6. */
#define LIMITED(x) 6
enum { SLOPE_AT_6 = 0 };
#include "op/nn/relu_examples.inc"

const mst_op mst_op_relu6 = {
    .name = "relu6",
    .tf_form = "Relu6($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = relu6_grad,
    .reference = relu6_reference,
    .lower = relu6_lower,
    MST_EXAMPLES(relu_examples),
};

mst_value mst_relu6(mst_value src) {
    return mst_call(NULL, &mst_op_relu6, 1, &src, NULL);
}

/* ---- the gradient ---- */

/** relu6_grad: dst = 0 < output < 6 ? gradient : 0, the gradient of relu6
 *
 *  gradient  of the output of relu6: any shape, f32 or f64
 *  output    output of relu6, like gradient
 *  dst       like both; may alias either
 */

/* No gradient flows to the output, because it only selects elements. */
static mst_value relu6_grad_grad(mst_grad *c, int i) {
    return i == 0 ? mst_relu6_grad(c->ddst[0], c->src[1]) : MST_NONE;
}

static void relu6_grad_lower(mst_lower *l) {
    const mst_hlo zero = mst_hlo_number(l, l->src_spec[0].dtype, 0), six = mst_hlo_number(l, l->src_spec[0].dtype, 6);
    const mst_hlo inside =
        mst_hlo_binary(l, "and", mst_hlo_compare(l, "GT", l->src[1], zero), mst_hlo_compare(l, "LT", l->src[1], six));
    l->dst[0] = mst_hlo_select(l, inside, l->src[0], zero);
}

/* x is the gradient, y the output */
#define OP relu6_grad
#define FORMULA (y > 0 && y < 6 ? x : 0)
#include "op/binary/binary_floats.inc"

const mst_op mst_op_relu6_grad = {
    .name = "relu6_grad",
    .tf_form = "Relu6Grad($0, $1)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_same_spec,
    .grad = relu6_grad_grad,
    .reference = relu6_grad_reference,
    .lower = relu6_grad_lower,
    MST_EXAMPLES(relu_grad_examples),
};

mst_value mst_relu6_grad(mst_value gradient, mst_value output) {
    return mst_call(NULL, &mst_op_relu6_grad, 2, (const mst_value[]){gradient, output}, NULL);
}
