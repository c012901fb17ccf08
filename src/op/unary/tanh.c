/** tanh: dst = (e^src - e^-src) / (e^src + e^-src)
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_tanh(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

static mst_value tanh_grad(mst_grad *c, int i) {
    (void)i;
    return mst_tanh_grad(c->ddst[0], c->dst[0]);
}

#define OP tanh
#define FORMULA tanh(x)
#include "op/unary/unary_math.inc"

static const mst_example tanh_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, 0, 0.5, 3}}},
     .expect = {(const double[]){-0.9640275800758169, 0, 0.46211715726000974, 0.9950547536867305}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){INFINITY, -INFINITY, NAN}, .no_grad = true}},
     .expect = {(const double[]){1, -1, NAN}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}},
};

const mst_op mst_op_tanh = {
    .name = "tanh",
    .tf_form = "Tanh($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = tanh_grad,
    .reference = tanh_reference,
    .hlo = "tanh",
    MST_EXAMPLES(tanh_examples),
};

mst_value mst_tanh(mst_value src) {
    return mst_call(NULL, &mst_op_tanh, 1, &src, NULL);
}

/* ---- the gradient ---- */

/** tanh_grad: dst = gradient * (1 - output^2), the gradient of tanh
 *
 *  gradient  of the output of tanh: any shape, f32 or f64
 *  output    output of tanh, like gradient
 *  dst       like both; may alias either
 */

/* d(g (1 - y^2)) = (1 - y^2) dg - 2 g y dy */
static mst_value tanh_grad_grad(mst_grad *c, int i) {
    if (i == 0) return mst_tanh_grad(c->ddst[0], c->src[1]);
    return mst_scale(mst_mul(c->ddst[0], mst_mul(c->src[0], c->src[1])), -2);
}

static void tanh_grad_lower(mst_lower *l) {
    const mst_hlo gradient = l->src[0], output = l->src[1], one = mst_hlo_number(l, l->src_spec[0].dtype, 1);
    const mst_hlo square = mst_hlo_binary(l, "multiply", output, output);
    l->dst[0] = mst_hlo_binary(l, "multiply", gradient, mst_hlo_binary(l, "subtract", one, square));
}

/* x is the gradient, y the output */
#define OP tanh_grad
#define FORMULA (x * (1 - y * y))
#include "op/binary/binary_floats.inc"

static const mst_example tanh_grad_examples[] = {
    {.num_src = 2,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){1, 2, -4}},
             {.ndim = 1, .dim = {3}, .value = (const double[]){0.5, 0, -1}}},
     .expect = {(const double[]){0.75, 2, 0}}},
    {.num_src = 2, .src = {{.ndim = 2, .dim = {3, 5}}, {.ndim = 2, .dim = {3, 5}, .low = -1, .high = 1}}},
    {.num_src = 2, .src = {{.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {3}}}, .fails = MST_INVALID},
    {.num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}}, {.dtype = MST_F64, .ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_tanh_grad = {
    .name = "tanh_grad",
    .tf_form = "TanhGrad($1, $0)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_same_spec,
    .grad = tanh_grad_grad,
    .reference = tanh_grad_reference,
    .lower = tanh_grad_lower,
    MST_EXAMPLES(tanh_grad_examples),
};

mst_value mst_tanh_grad(mst_value gradient, mst_value output) {
    return mst_call(NULL, &mst_op_tanh_grad, 2, (const mst_value[]){gradient, output}, NULL);
}
