/** rsqrt: dst = 1 / square root of src
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 *
 *  Inf at 0, NaN below.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_rsqrt(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

/* d(x^-1/2) = -1/2 (x^-1/2)^3 dx */
static mst_value rsqrt_grad(mst_grad *c, int i) {
    (void)i;
    return mst_scale(mst_mul(c->ddst[0], mst_mul(c->dst[0], mst_square(c->dst[0]))), -0.5);
}

#define OP rsqrt
#define FORMULA (1 / sqrt(x))
#include "op/unary/unary_floats.inc"

static const mst_example rsqrt_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){0.25, 1, 2, 16}}},
     .expect = {(const double[]){2, 1, 0.7071067811865475, 0.25}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){0, INFINITY, -1}, .no_grad = true}},
     .expect = {(const double[]){INFINITY, 0, NAN}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}, .low = 0.5, .high = 3}}},
};

const mst_op mst_op_rsqrt = {
    .name = "rsqrt",
    .tf_form = "Rsqrt($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = rsqrt_grad,
    .reference = rsqrt_reference,
    .hlo = "rsqrt",
    MST_EXAMPLES(rsqrt_examples),
};

mst_value mst_rsqrt(mst_value src) {
    return mst_call(NULL, &mst_op_rsqrt, 1, &src, NULL);
}
