/** exp: dst = e^src
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_exp(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

static mst_value exp_grad(mst_grad *c, int i) {
    (void)i;
    return mst_mul(c->ddst[0], c->dst[0]);
}

#define OP exp
#define FORMULA exp(x)
#include "op/unary/unary_math.inc"

static const mst_example exp_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {5}, .value = (const double[]){-2, 0, 0.5, 1, 3}}},
     .expect = {(const double[]){0.1353352832366127, 1, 1.6487212707001282, 2.718281828459045, 20.085536923187668}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){-INFINITY, INFINITY, NAN}, .no_grad = true}},
     .expect = {(const double[]){0, INFINITY, NAN}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}},
};

const mst_op mst_op_exp = {
    .name = "exp",
    .tf_form = "Exp($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = exp_grad,
    .reference = exp_reference,
    .hlo = "exponential",
    MST_EXAMPLES(exp_examples),
};

mst_value mst_exp(mst_value src) {
    return mst_call(NULL, &mst_op_exp, 1, &src, NULL);
}
