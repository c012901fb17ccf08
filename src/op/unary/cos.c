/** cos: dst = cos(src), src in radians
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_cos(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

static mst_value cos_grad(mst_grad *c, int i) {
    (void)i;
    return mst_neg(mst_mul(c->ddst[0], mst_sin(c->src[0])));
}

#define OP cos
#define FORMULA cos(x)
#include "op/unary/unary_math.inc"

static const mst_example cos_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, 0, 0.5, 3}}},
     .expect = {(const double[]){-0.4161468365471424, 1, 0.8775825618903728, -0.9899924966004454}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {1}, .value = (const double[]){INFINITY}, .no_grad = true}},
     .expect = {(const double[]){NAN}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}},
};

const mst_op mst_op_cos = {
    .name = "cos",
    .tf_form = "Cos($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = cos_grad,
    .reference = cos_reference,
    .hlo = "cosine",
    MST_EXAMPLES(cos_examples),
};

mst_value mst_cos(mst_value src) {
    return mst_call(NULL, &mst_op_cos, 1, &src, NULL);
}
