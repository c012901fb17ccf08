/** sign: dst = -1 if src < 0, 0 if src = 0, 1 if src > 0
 *
 *  src  any shape, f32, f64, i32, i64 or u8
 *  dst  like src; may alias it
 *
 *  NaN stays NaN. No gradient flows through.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_sign(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

/* unsigned integers have no sign in StableHLO */
static void sign_lower(mst_lower *l) {
    if (l->src_spec[0].dtype == MST_U8)
        l->dst[0] = mst_hlo_binary(l, "minimum", l->src[0], mst_hlo_number(l, MST_U8, 1));
    else
        l->dst[0] = mst_hlo_unary(l, "sign", l->src[0]);
}

/* NaN stays NaN */
#define OP sign
#define FORMULA (IS_NAN(x) ? x : (T)((x > 0) - IS_NEGATIVE(x)))
#include "op/unary/unary_numbers.inc"

static const mst_example sign_examples[] = {
    {.num_src = 1,
     .dtypes = MST_FLOATS | MST_INDICES,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, -1, 1, 3}}},
     .expect = {(const double[]){-1, -1, 1, 1}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){0, 1, 255}, .no_grad = true}},
     .expect = {(const double[]){0, 1, 1}}},
    {.num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}, .value = (const double[]){-INFINITY, NAN}, .no_grad = true}},
     .expect = {(const double[]){-1, NAN}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}, .low = 0.5, .high = 2}}},
};

const mst_op mst_op_sign = {
    .name = "sign",
    .tf_form = "Sign($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .reference = sign_reference,
    .lower = sign_lower,
    MST_EXAMPLES(sign_examples),
};

mst_value mst_sign(mst_value src) {
    return mst_call(NULL, &mst_op_sign, 1, &src, NULL);
}
