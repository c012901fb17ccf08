/** reciprocal: dst = 1 / src
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 *
 *  Inf at 0, -Inf at -0.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_reciprocal(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

/* d(1 / x) = -(1 / x)^2 dx */
static mst_value reciprocal_grad(mst_grad *c, int i) {
    (void)i;
    return mst_neg(mst_mul(c->ddst[0], mst_square(c->dst[0])));
}

static void reciprocal_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_binary(l, "divide", mst_hlo_number(l, l->src_spec[0].dtype, 1), l->src[0]);
}

#define OP reciprocal
#define FORMULA (1 / x)
#include "op/unary/unary_floats.inc"

static const mst_example reciprocal_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, 0.5, 1, 8}}},
     .expect = {(const double[]){-0.5, 2, 1, 0.125}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){0, -INFINITY, NAN}, .no_grad = true}},
     .expect = {(const double[]){INFINITY, 0, NAN}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}, .low = 0.5, .high = 3}}},
};

const mst_op mst_op_reciprocal = {
    .name = "reciprocal",
    .tf_form =
        "Reciprocal($0)\n"
        "<Inv($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = reciprocal_grad,
    .reference = reciprocal_reference,
    .lower = reciprocal_lower,
    MST_EXAMPLES(reciprocal_examples),
};

mst_value mst_reciprocal(mst_value src) {
    return mst_call(NULL, &mst_op_reciprocal, 1, &src, NULL);
}
