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

/* Computes sinh(a) with a = |x|. For a < 1 it is (m + m / (m + 1)) / 2, where m = e^a - 1: nothing cancels. Else it is
 * h^2 / 2 - 1 / (2 h^2), where h = e^(a / 2): nothing overflows before the result does. */
static void sinh_lower(mst_lower *l) {
    const mst_dtype dtype = l->src_spec[0].dtype;
    const mst_hlo a = mst_hlo_unary(l, "abs", l->src[0]);
    const mst_hlo half = mst_hlo_number(l, dtype, 0.5), one = mst_hlo_number(l, dtype, 1);
    const mst_hlo e = mst_hlo_unary(l, "exponential_minus_one", a);
    const mst_hlo fraction = mst_hlo_binary(l, "divide", e, mst_hlo_binary(l, "add", e, one));
    const mst_hlo near_zero = mst_hlo_binary(l, "multiply", half, mst_hlo_binary(l, "add", e, fraction));
    const mst_hlo h = mst_hlo_unary(l, "exponential", mst_hlo_binary(l, "multiply", half, a));
    const mst_hlo rising = mst_hlo_binary(l, "multiply", mst_hlo_binary(l, "multiply", half, h), h);
    const mst_hlo falling = mst_hlo_binary(l, "divide", mst_hlo_binary(l, "divide", half, h), h);
    const mst_hlo far = mst_hlo_binary(l, "subtract", rising, falling);
    const mst_hlo magnitude = mst_hlo_select(l, mst_hlo_compare(l, "LT", a, one), near_zero, far);
    l->dst[0] = mst_hlo_binary(l, "multiply", mst_hlo_unary(l, "sign", l->src[0]), magnitude);
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
    .lower = sinh_lower,
    MST_EXAMPLES(sinh_examples),
};

mst_value mst_sinh(mst_value src) {
    return mst_call(NULL, &mst_op_sinh, 1, &src, NULL);
}
