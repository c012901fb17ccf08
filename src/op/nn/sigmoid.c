/** sigmoid: dst = 1 / (1 + e^-src)
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_sigmoid(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

static mst_value grad(mst_grad *c, int i) {
    (void)i;
    return mst_sigmoid_grad(c->ddst[0], c->dst[0]);
}

/* e^-|x| <= 1: no overflow, and no cancellation for either sign */
MST_UNARY_MATH((x >= 0 ? 1 : exp(-fabs(x))) / (1 + exp(-fabs(x))))

static const mst_example examples[] = {
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
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = grad,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_sigmoid(mst_value src) {
    return mst_call(NULL, &mst_op_sigmoid, 1, &src, NULL);
}
