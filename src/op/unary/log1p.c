/** log1p: dst = natural logarithm of 1 + src, accurate also if src is near 0
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 *
 *  -Inf at -1, NaN below.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_log1p(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

static mst_value log1p_grad(mst_grad *c, int i) {
    (void)i;
    return mst_div(c->ddst[0], mst_add(c->src[0], mst_number(c->src[0], 1)));
}

#define OP log1p
#define FORMULA log1p(x)
#include "op/unary/unary_math.inc"

static const mst_example log1p_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-0.5, 0, 1, 9}}},
     .expect = {(const double[]){-0.6931471805599453, 0, 0.6931471805599453, 2.302585092994046}}},
    {.num_src = 1,
     .src = {{.dtype = MST_F64, .ndim = 1, .dim = {1}, .value = (const double[]){9.313225746154785e-10}}},
     .expect = {(const double[]){9.313225741817976e-10}},
     .tolerance = 1e-20},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){-1, INFINITY, -2}, .no_grad = true}},
     .expect = {(const double[]){-INFINITY, INFINITY, NAN}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}, .low = -0.5, .high = 3}}},
};

const mst_op mst_op_log1p = {
    .name = "log1p",
    .tf_form = "Log1p($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = log1p_grad,
    .reference = log1p_reference,
    .hlo = "log_plus_one",
    MST_EXAMPLES(log1p_examples),
};

mst_value mst_log1p(mst_value src) {
    return mst_call(NULL, &mst_op_log1p, 1, &src, NULL);
}
