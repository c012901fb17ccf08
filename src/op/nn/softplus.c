/** softplus: dst = log(1 + e^src)
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_softplus(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

/* d softplus(x) = sigmoid(x) dx */
static mst_value softplus_grad(mst_grad *c, int i) {
    (void)i;
    return mst_mul(c->ddst[0], mst_sigmoid(c->src[0]));
}

static void softplus_lower(mst_lower *l) {
    const mst_hlo x = l->src[0], zero = mst_hlo_number(l, l->src_spec[0].dtype, 0);
    const mst_hlo small = mst_hlo_unary(l, "exponential", mst_hlo_unary(l, "negate", mst_hlo_unary(l, "abs", x)));
    l->dst[0] =
        mst_hlo_binary(l, "add", mst_hlo_binary(l, "maximum", x, zero), mst_hlo_unary(l, "log_plus_one", small));
}

/* max(x, 0) + log(1 + e^-|x|): no overflow, and no cancellation */
#define OP softplus
#define FORMULA ((x > 0 ? x : 0) + log1p(exp(-fabs(x))))
#include "op/unary/unary_math.inc"

static const mst_example softplus_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, 0, 0.5, 3}}},
     .expect = {(const double[]){0.1269280110429725, 0.6931471805599453, 0.9740769841801067, 3.048587351573742}}},
    {.num_src = 1,
     .src =
         {{.ndim = 1, .dim = {5}, .value = (const double[]){-INFINITY, INFINITY, 1000, -1000, NAN}, .no_grad = true}},
     .expect = {(const double[]){0, INFINITY, 1000, 0, NAN}}},
    {.num_src = 1,
     .src = {{.dtype = MST_F64, .ndim = 1, .dim = {1}, .value = (const double[]){-100}, .no_grad = true}},
     .expect = {(const double[]){3.720075976020836e-44}},
     .tolerance = 1e-55},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}},
};

const mst_op mst_op_softplus = {
    .name = "softplus",
    .tf_form = "Softplus($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = softplus_grad,
    .reference = softplus_reference,
    .lower = softplus_lower,
    MST_EXAMPLES(softplus_examples),
};

mst_value mst_softplus(mst_value src) {
    return mst_call(NULL, &mst_op_softplus, 1, &src, NULL);
}
