/** log: dst = natural logarithm of src
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 *
 *  -Inf at 0, NaN below.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_log(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

static mst_value log_grad(mst_grad *c, int i) {
    (void)i;
    return mst_div(c->ddst[0], c->src[0]);
}

#define OP log
#define FORMULA log(x)
#include "op/unary/unary_math.inc"

static const mst_example log_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){0.25, 1, 2, 10}}},
     .expect = {(const double[]){-1.3862943611198906, 0, 0.6931471805599453, 2.302585092994046}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){0, INFINITY, -1, NAN}, .no_grad = true}},
     .expect = {(const double[]){-INFINITY, INFINITY, NAN, NAN}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}, .low = 0.5, .high = 3}}},
};

const mst_op mst_op_log = {
    .name = "log",
    .tf_form = "Log($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = log_grad,
    .reference = log_reference,
    .hlo = "log",
    MST_EXAMPLES(log_examples),
};

mst_value mst_log(mst_value src) {
    return mst_call(NULL, &mst_op_log, 1, &src, NULL);
}
