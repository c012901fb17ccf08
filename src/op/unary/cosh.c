/** cosh: dst = (e^src + e^-src) / 2
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_cosh(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

static mst_value cosh_grad(mst_grad *c, int i) {
    (void)i;
    return mst_mul(c->ddst[0], mst_sinh(c->src[0]));
}

/* h^2 / 2 + 1 / (2 h^2), where h = e^(|x| / 2): nothing overflows before the result does */
static void cosh_lower(mst_lower *l) {
    const mst_hlo half = mst_hlo_number(l, l->src_spec[0].dtype, 0.5);
    const mst_hlo part = mst_hlo_binary(l, "multiply", half, mst_hlo_unary(l, "abs", l->src[0]));
    const mst_hlo h = mst_hlo_unary(l, "exponential", part);
    const mst_hlo rising = mst_hlo_binary(l, "multiply", mst_hlo_binary(l, "multiply", half, h), h);
    const mst_hlo falling = mst_hlo_binary(l, "divide", mst_hlo_binary(l, "divide", half, h), h);
    l->dst[0] = mst_hlo_binary(l, "add", rising, falling);
}

#define OP cosh
#define FORMULA cosh(x)
#include "op/unary/unary_math.inc"

static const mst_example cosh_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, 0, 0.5, 3}}},
     .expect = {(const double[]){3.7621956910836314, 1, 1.1276259652063807, 10.067661995777765}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){INFINITY, -INFINITY}, .no_grad = true}},
     .expect = {(const double[]){INFINITY, INFINITY}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}},
};

const mst_op mst_op_cosh = {
    .name = "cosh",
    .tf_form = "Cosh($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = cosh_grad,
    .reference = cosh_reference,
    .lower = cosh_lower,
    MST_EXAMPLES(cosh_examples),
};

mst_value mst_cosh(mst_value src) {
    return mst_call(NULL, &mst_op_cosh, 1, &src, NULL);
}
