/** erf: dst = 2 / sqrt(pi) * integral from 0 to src of e^(-t^2) dt
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_erf(mst_value src);
#endif
#include "op/elementwise/elementwise.h"
#include "op/unary/erf_hlo.h"

/* d erf(x) = 2 / sqrt(pi) exp(-x^2) dx */
static mst_value erf_grad(mst_grad *c, int i) {
    (void)i;
    mst_value bell = mst_exp(mst_neg(mst_square(c->src[0])));
    return mst_scale(mst_mul(c->ddst[0], bell), 1.1283791670955126); /* 2 / sqrt(pi) */
}

static void erf_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_erf(l, l->src[0]);
}

#define OP erf
#define FORMULA erf(x)
#include "op/unary/unary_math.inc"

static const mst_example erf_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, 0, 0.5, 3}}},
     .expect = {(const double[]){-0.9953222650189527, 0, 0.5204998778130465, 0.9999779095030014}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){-INFINITY, INFINITY}, .no_grad = true}},
     .expect = {(const double[]){-1, 1}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}},
};

const mst_op mst_op_erf = {
    .name = "erf",
    .tf_form = "Erf($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = erf_grad,
    .reference = erf_reference,
    .lower = erf_lower,
    MST_EXAMPLES(erf_examples),
};

mst_value mst_erf(mst_value src) {
    return mst_call(NULL, &mst_op_erf, 1, &src, NULL);
}
