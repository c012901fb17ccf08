/** swish: dst = src * sigmoid(src), also known as SiLU
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_swish(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

/* d(x s) = (s + x s (1 - s)) dx, where s = sigmoid(x) and x s = dst */
static mst_value swish_grad(mst_grad *c, int i) {
    (void)i;
    mst_value sigmoid = mst_sigmoid(c->src[0]);
    mst_value rest = mst_sub(mst_number(sigmoid, 1), sigmoid);
    return mst_mul(c->ddst[0], mst_add(sigmoid, mst_mul(c->dst[0], rest)));
}

static void swish_lower(mst_lower *l) {
    const mst_hlo x = l->src[0], one = mst_hlo_number(l, l->src_spec[0].dtype, 1);
    const mst_hlo power = mst_hlo_unary(l, "exponential", mst_hlo_unary(l, "negate", x));
    l->dst[0] = mst_hlo_binary(l, "divide", x, mst_hlo_binary(l, "add", one, power));
}

#define OP swish
#define FORMULA (x / (1 + exp(-x)))
#include "op/unary/unary_math.inc"

static const mst_example swish_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, 0, 0.5, 3}}},
     .expect = {(const double[]){-0.2384058440442351, 0, 0.3112296656009273, 2.8577223804673}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){-1000, 1000, NAN}, .no_grad = true}},
     .expect = {(const double[]){0, 1000, NAN}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}},
};

const mst_op mst_op_swish = {
    .name = "swish",
    .tf_form = ">Mul($0, Sigmoid($0))",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = swish_grad,
    .reference = swish_reference,
    .lower = swish_lower,
    MST_EXAMPLES(swish_examples),
};

mst_value mst_swish(mst_value src) {
    return mst_call(NULL, &mst_op_swish, 1, &src, NULL);
}
