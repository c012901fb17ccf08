/** sin: dst = sin(src), src in radians
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_sin(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

static mst_value sin_grad(mst_grad *c, int i) {
    (void)i;
    return mst_mul(c->ddst[0], mst_cos(c->src[0]));
}

#define OP sin
#define FORMULA sin(x)
#include "op/unary/unary_math.inc"

static const mst_example sin_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, 0, 0.5, 3}}},
     .expect = {(const double[]){-0.9092974268256817, 0, 0.479425538604203, 0.1411200080598672}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {1}, .value = (const double[]){INFINITY}, .no_grad = true}},
     .expect = {(const double[]){NAN}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}},
};

const mst_op mst_op_sin = {
    .name = "sin",
    .tf_form = "Sin($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = sin_grad,
    .reference = sin_reference,
    .hlo = "sine",
    MST_EXAMPLES(sin_examples),
};

mst_value mst_sin(mst_value src) {
    return mst_call(NULL, &mst_op_sin, 1, &src, NULL);
}
