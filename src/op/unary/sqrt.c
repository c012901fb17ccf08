/** sqrt: dst = square root of src
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 *
 *  NaN below 0.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_sqrt(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

/* d sqrt(x) = 1 / (2 sqrt(x)) dx */
static mst_value sqrt_grad(mst_grad *c, int i) {
    (void)i;
    return mst_scale(mst_div(c->ddst[0], c->dst[0]), 0.5);
}

#define OP sqrt
#define FORMULA sqrt(x)
#include "op/unary/unary_floats.inc"

static const mst_example sqrt_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){0.25, 1, 2, 9}}},
     .expect = {(const double[]){0.5, 1, 1.4142135623730951, 3}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){0, INFINITY, -1}, .no_grad = true}},
     .expect = {(const double[]){0, INFINITY, NAN}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}, .low = 0.5, .high = 3}}},
};

const mst_op mst_op_sqrt = {
    .name = "sqrt",
    .tf_form = "Sqrt($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = sqrt_grad,
    .reference = sqrt_reference,
    .hlo = "sqrt",
    MST_EXAMPLES(sqrt_examples),
};

mst_value mst_sqrt(mst_value src) {
    return mst_call(NULL, &mst_op_sqrt, 1, &src, NULL);
}
