/** sinh: dst = (e^src - e^-src) / 2
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_sinh(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

static mst_value sinh_grad(mst_grad *c, int i) {
    (void)i;
    return mst_mul(c->ddst[0], mst_cosh(c->src[0]));
}

#define OP sinh
#define FORMULA sinh(x)
#include "op/unary/unary_math.inc"

static const mst_example sinh_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, 0, 0.5, 3}}},
     .expect = {(const double[]){-3.626860407847019, 0, 0.5210953054937474, 10.017874927409903}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){INFINITY, -INFINITY}, .no_grad = true}},
     .expect = {(const double[]){INFINITY, -INFINITY}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}},
};

const mst_op mst_op_sinh = {
    .name = "sinh",
    .tf_form = "Sinh($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = sinh_grad,
    .reference = sinh_reference,
    MST_EXAMPLES(sinh_examples),
};

mst_value mst_sinh(mst_value src) {
    return mst_call(NULL, &mst_op_sinh, 1, &src, NULL);
}
