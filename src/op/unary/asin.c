/** asin: dst = arc sine of src, in radians from -pi/2 to pi/2
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 *
 *  NaN outside [-1, 1].
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_asin(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

/* d asin(x) = 1 / sqrt(1 - x^2) dx */
static mst_value asin_grad(mst_grad *c, int i) {
    (void)i;
    mst_value one = mst_number(c->src[0], 1);
    return mst_mul(c->ddst[0], mst_rsqrt(mst_sub(one, mst_square(c->src[0]))));
}

/* the angle of the point (sqrt(1 - x^2), x); the product of (1 - x) and (1 + x) does not cancel */
static void asin_lower(mst_lower *l) {
    const mst_hlo x = l->src[0], one = mst_hlo_number(l, l->src_spec[0].dtype, 1);
    const mst_hlo square =
        mst_hlo_binary(l, "multiply", mst_hlo_binary(l, "subtract", one, x), mst_hlo_binary(l, "add", one, x));
    l->dst[0] = mst_hlo_binary(l, "atan2", x, mst_hlo_unary(l, "sqrt", square));
}

#define OP asin
#define FORMULA asin(x)
#include "op/unary/unary_math.inc"

static const mst_example asin_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-1, 0, 0.5, 1}, .no_grad = true}},
     .expect = {(const double[]){-1.5707963267948966, 0, 0.5235987755982989, 1.5707963267948966}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){2, NAN}, .no_grad = true}},
     .expect = {(const double[]){NAN, NAN}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}, .low = -0.75, .high = 0.75}}},
};

const mst_op mst_op_asin = {
    .name = "asin",
    .tf_form = "Asin($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = asin_grad,
    .reference = asin_reference,
    .lower = asin_lower,
    MST_EXAMPLES(asin_examples),
};

mst_value mst_asin(mst_value src) {
    return mst_call(NULL, &mst_op_asin, 1, &src, NULL);
}
