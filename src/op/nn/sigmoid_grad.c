/** sigmoid_grad: dst = gradient * output * (1 - output), the gradient of sigmoid
 *
 *  gradient  of the output of sigmoid: any shape, f32 or f64
 *  output    of sigmoid, alike
 *  dst       like both; may alias either
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_sigmoid_grad(mst_value gradient, mst_value output);
#endif
#include "op/elementwise/elementwise.h"

static mst_value grad(mst_grad *c, int i) {
    if (i == 0) return mst_sigmoid_grad(c->ddst[0], c->src[1]);
    mst_value slope = mst_sub(mst_number(c->src[1], 1), mst_scale(c->src[1], 2));
    return mst_mul(c->ddst[0], mst_mul(c->src[0], slope));
}

/* x is the gradient, y the output */
MST_BINARY_FLOATS(x *(y *(1 - y)))

static const mst_example examples[] = {
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
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_alike,
    .grad = grad,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_sigmoid_grad(mst_value gradient, mst_value output) {
    return mst_call(NULL, &mst_op_sigmoid_grad, 2, (const mst_value[]){gradient, output}, NULL);
}
