/** relu6_grad: dst = 0 < output < 6 ? gradient : 0, the gradient of relu6
 *
 *  gradient  of the output of relu6: any shape, f32 or f64
 *  output    of relu6, alike
 *  dst       like both; may alias either
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_relu6_grad(mst_value gradient, mst_value output);
#endif
#include "op/elementwise/elementwise.h"

/* no gradient flows to the output: it only switches */
static mst_value grad(mst_grad *c, int i) {
    return i == 0 ? mst_relu6_grad(c->ddst[0], c->src[1]) : MST_NONE;
}

/* x is the gradient, y the output */
MST_BINARY_FLOATS(y > 0 && y < 6 ? x : 0)

static const mst_example examples[] = {
    {.num_src = 2,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){1, 2, 3, -4}},
             {.ndim = 1, .dim = {4}, .value = (const double[]){0.5, 0, 6, 1}, .no_grad = true}},
     .expect = {(const double[]){1, 0, 0, -4}}},
    {.num_src = 2, .src = {{.ndim = 2, .dim = {3, 5}}, {.ndim = 2, .dim = {3, 5}, .low = 0.5, .high = 5.5}}},
    {.num_src = 2, .src = {{.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {3}}}, .fails = MST_INVALID},
    {.num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}}, {.dtype = MST_F64, .ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_relu6_grad = {
    .name = "relu6_grad",
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

mst_value mst_relu6_grad(mst_value gradient, mst_value output) {
    return mst_call(NULL, &mst_op_relu6_grad, 2, (const mst_value[]){gradient, output}, NULL);
}
