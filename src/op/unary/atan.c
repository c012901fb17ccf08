/** atan: dst = arc tangent of src, in radians from -pi/2 to pi/2
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_atan(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

/* d atan(x) = 1 / (1 + x^2) dx */
static mst_value atan_grad(mst_grad *c, int i) {
    (void)i;
    mst_value one = mst_number(c->src[0], 1);
    return mst_div(c->ddst[0], mst_add(mst_square(c->src[0]), one));
}

static void atan_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_binary(l, "atan2", l->src[0], mst_hlo_number(l, l->src_spec[0].dtype, 1));
}

#define OP atan
#define FORMULA atan(x)
#include "op/unary/unary_math.inc"

static const mst_example atan_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, 0, 0.5, 3}}},
     .expect = {(const double[]){-1.1071487177940904, 0, 0.4636476090008061, 1.2490457723982544}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){INFINITY, -INFINITY}, .no_grad = true}},
     .expect = {(const double[]){1.5707963267948966, -1.5707963267948966}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}},
};

const mst_op mst_op_atan = {
    .name = "atan",
    .tf_form = "Atan($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = atan_grad,
    .reference = atan_reference,
    .lower = atan_lower,
    MST_EXAMPLES(atan_examples),
};

mst_value mst_atan(mst_value src) {
    return mst_call(NULL, &mst_op_atan, 1, &src, NULL);
}
