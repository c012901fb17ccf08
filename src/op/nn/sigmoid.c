/** sigmoid: dst = 1 / (1 + e^-src)
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_sigmoid(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

static mst_value sigmoid_grad(mst_grad *c, int i) {
    (void)i;
    return mst_sigmoid_grad(c->ddst[0], c->dst[0]);
}

/* e^-|x| <= 1: no overflow, and no cancellation for either sign */
#define OP sigmoid
#define FORMULA ((x >= 0 ? 1 : exp(-fabs(x))) / (1 + exp(-fabs(x))))
#include "op/unary/unary_math.inc"

static const mst_example sigmoid_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, 0, 0.5, 3}}},
     .expect = {(const double[]){0.11920292202211755, 0.5, 0.6224593312018546, 0.9525741268224334}}},
    {.num_src = 1,
     .src =
         {{.ndim = 1, .dim = {5}, .value = (const double[]){-INFINITY, INFINITY, -1000, 1000, NAN}, .no_grad = true}},
     .expect = {(const double[]){0, 1, 0, 1, NAN}}},
    {.num_src = 1,
     .src = {{.dtype = MST_F64, .ndim = 1, .dim = {1}, .value = (const double[]){-100}, .no_grad = true}},
     .expect = {(const double[]){3.720075976020836e-44}},
     .tolerance = 1e-55},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}},
};

const mst_op mst_op_sigmoid = {
    .name = "sigmoid",
    .tf_form = "Sigmoid($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = sigmoid_grad,
    .reference = sigmoid_reference,
    .hlo = "logistic",
    MST_EXAMPLES(sigmoid_examples),
};

mst_value mst_sigmoid(mst_value src) {
    return mst_call(NULL, &mst_op_sigmoid, 1, &src, NULL);
}

/* ---- the gradient ---- */

/** sigmoid_grad: dst = gradient * output * (1 - output), the gradient of sigmoid
 *
 *  gradient  of the output of sigmoid: any shape, f32 or f64
 *  output    output of sigmoid, like gradient
 *  dst       like both; may alias either
 */

/* d(g y (1 - y)) = y (1 - y) dg + g (1 - 2 y) dy */
static mst_value sigmoid_grad_grad(mst_grad *c, int i) {
    if (i == 0) return mst_sigmoid_grad(c->ddst[0], c->src[1]);
    mst_value slope = mst_sub(mst_number(c->src[1], 1), mst_scale(c->src[1], 2));
    return mst_mul(c->ddst[0], mst_mul(c->src[0], slope));
}

static void sigmoid_grad_lower(mst_lower *l) {
    const mst_hlo gradient = l->src[0], output = l->src[1], one = mst_hlo_number(l, l->src_spec[0].dtype, 1);
    const mst_hlo slope = mst_hlo_binary(l, "multiply", output, mst_hlo_binary(l, "subtract", one, output));
    l->dst[0] = mst_hlo_binary(l, "multiply", gradient, slope);
}

/* x is the gradient, y the output */
#define OP sigmoid_grad
#define FORMULA (x * (y * (1 - y)))
#include "op/binary/binary_floats.inc"

static const mst_example sigmoid_grad_examples[] = {
    {.num_src = 2,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){1, 2, -4}},
             {.ndim = 1, .dim = {3}, .value = (const double[]){0.5, 0, 0.25}}},
     .expect = {(const double[]){0.25, 0, -0.75}}},
    {.num_src = 2, .src = {{.ndim = 2, .dim = {3, 5}}, {.ndim = 2, .dim = {3, 5}, .low = 0, .high = 1}}},
    {.num_src = 2, .src = {{.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {3}}}, .fails = MST_INVALID},
    {.num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}}, {.dtype = MST_F64, .ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_sigmoid_grad = {
    .name = "sigmoid_grad",
    .tf_form = "SigmoidGrad($1, $0)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_same_spec,
    .grad = sigmoid_grad_grad,
    .reference = sigmoid_grad_reference,
    .lower = sigmoid_grad_lower,
    MST_EXAMPLES(sigmoid_grad_examples),
};

mst_value mst_sigmoid_grad(mst_value gradient, mst_value output) {
    return mst_call(NULL, &mst_op_sigmoid_grad, 2, (const mst_value[]){gradient, output}, NULL);
}
