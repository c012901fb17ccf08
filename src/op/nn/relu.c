/** relu: dst = max(src, 0)
 *
 *  src  any shape, f32, f64, i32, i64 or u8
 *  dst  like src; may alias it
 *
 *  NaN stays NaN.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_relu(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

/* The derivative at 0 is 0. dst > 0 where src > 0, so src need not be kept. */
static mst_value relu_grad(mst_grad *c, int i) {
    (void)i;
    return mst_relu_grad(c->ddst[0], c->dst[0]);
}

static void relu_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_binary(l, "maximum", l->src[0], mst_hlo_number(l, l->src_spec[0].dtype, 0));
}

/* the comparison keeps NaN as NaN */
#define OP relu
#define FORMULA (IS_NEGATIVE(x) ? 0 : x)
#include "op/unary/unary_numbers.inc"

/* For the examples: the result for x above 6, and the slope at 6. */
#define LIMITED(x) (x)
enum { SLOPE_AT_6 = 1 };
#include "op/nn/relu_examples.inc"

const mst_op mst_op_relu = {
    .name = "relu",
    .tf_form = "Relu($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = relu_grad,
    .reference = relu_reference,
    .lower = relu_lower,
    MST_EXAMPLES(relu_examples),
};

mst_value mst_relu(mst_value src) {
    return mst_call(NULL, &mst_op_relu, 1, &src, NULL);
}

/* ---- the gradient ---- */

/** relu_grad: dst = output > 0 ? gradient : 0, the gradient of relu
 *
 *  gradient  of the output of relu: any shape, f32 or f64
 *  output    output of relu, like gradient
 *  dst       like both; may alias either
 */

/* No gradient flows to the output, because it only selects elements. */
static mst_value relu_grad_grad(mst_grad *c, int i) {
    return i == 0 ? mst_relu_grad(c->ddst[0], c->src[1]) : MST_NONE;
}

static void relu_grad_lower(mst_lower *l) {
    const mst_hlo zero = mst_hlo_number(l, l->src_spec[0].dtype, 0);
    l->dst[0] = mst_hlo_select(l, mst_hlo_compare(l, "GT", l->src[1], zero), l->src[0], zero);
}

/* x is the gradient, y the output */
#define OP relu_grad
#define FORMULA (y > 0 ? x : 0)
#include "op/binary/binary_floats.inc"

const mst_op mst_op_relu_grad = {
    .name = "relu_grad",
    .tf_form = "ReluGrad($0, $1)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_same_spec,
    .grad = relu_grad_grad,
    .reference = relu_grad_reference,
    .lower = relu_grad_lower,
    MST_EXAMPLES(relu_grad_examples),
};

mst_value mst_relu_grad(mst_value gradient, mst_value output) {
    return mst_call(NULL, &mst_op_relu_grad, 2, (const mst_value[]){gradient, output}, NULL);
}
