/** acos: dst = arc cosine of src, in radians from 0 to pi
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 *
 *  NaN outside [-1, 1].
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_acos(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

/* d acos(x) = -1 / sqrt(1 - x^2) dx */
static mst_value acos_grad(mst_grad *c, int i) {
    (void)i;
    mst_value one = mst_number(c->src[0], 1);
    return mst_neg(mst_mul(c->ddst[0], mst_rsqrt(mst_sub(one, mst_square(c->src[0])))));
}

/* the angle of the point (x, sqrt(1 - x^2)); the product of (1 - x) and (1 + x) does not cancel */
static void acos_lower(mst_lower *l) {
    const mst_hlo x = l->src[0], one = mst_hlo_number(l, l->src_spec[0].dtype, 1);
    const mst_hlo square =
        mst_hlo_binary(l, "multiply", mst_hlo_binary(l, "subtract", one, x), mst_hlo_binary(l, "add", one, x));
    l->dst[0] = mst_hlo_binary(l, "atan2", mst_hlo_unary(l, "sqrt", square), x);
}

#define OP acos
#define FORMULA acos(x)
#include "op/unary/unary_math.inc"

static const mst_example acos_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-1, 0, 0.5, 1}, .no_grad = true}},
     .expect = {(const double[]){3.141592653589793, 1.5707963267948966, 1.0471975511965979, 0}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){2, NAN}, .no_grad = true}},
     .expect = {(const double[]){NAN, NAN}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}, .low = -0.75, .high = 0.75}}},
};

const mst_op mst_op_acos = {
    .name = "acos",
    .tf_form = "Acos($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = acos_grad,
    .reference = acos_reference,
    .lower = acos_lower,
    MST_EXAMPLES(acos_examples),
};

mst_value mst_acos(mst_value src) {
    return mst_call(NULL, &mst_op_acos, 1, &src, NULL);
}
