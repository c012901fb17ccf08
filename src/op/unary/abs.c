/** abs: dst = |src|
 *
 *  src  any shape, f32, f64, i32, i64 or u8
 *  dst  like src; may alias it
 *
 *  The smallest integer has no opposite in its dtype, and stays as it is.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_abs(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

/* The derivative at 0 is 0. */
static mst_value abs_grad(mst_grad *c, int i) {
    (void)i;
    return mst_mul(c->ddst[0], mst_sign(c->src[0]));
}

/* unsigned integers have no abs in StableHLO */
static void abs_lower(mst_lower *l) {
    l->dst[0] = l->src_spec[0].dtype == MST_U8 ? l->src[0] : mst_hlo_unary(l, "abs", l->src[0]);
}

#define OP abs
#define INTEGER_FORMULA (x < 0 ? 0u - (uint64_t)x : (uint64_t)x)
#define FORMULA fabs(x)
#include "op/unary/unary_numbers.inc"

static const mst_example abs_examples[] = {
    {.num_src = 1,
     .dtypes = MST_FLOATS | MST_INDICES,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, -1, 1, 3}}},
     .expect = {(const double[]){2, 1, 1, 3}}},
    {.num_src = 1,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {2}, .value = (const double[]){-0x1p31, -5}}},
     .expect = {(const double[]){-0x1p31, 5}}},
    {.num_src = 1,
     .src = {{.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){-0x1p63, -5}}},
     .expect = {(const double[]){-0x1p63, 5}}},
    {.num_src = 1,
     .src = {{.dtype = MST_U8, .ndim = 1, .dim = {3}, .value = (const double[]){0, 1, 255}}},
     .expect = {(const double[]){0, 1, 255}}},
    {.num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}, .value = (const double[]){-INFINITY, NAN}, .no_grad = true}},
     .expect = {(const double[]){INFINITY, NAN}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}, .low = 0.5, .high = 2}}},
};

const mst_op mst_op_abs = {
    .name = "abs",
    .tf_form = "Abs($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = abs_grad,
    .reference = abs_reference,
    .lower = abs_lower,
    MST_EXAMPLES(abs_examples),
};

mst_value mst_abs(mst_value src) {
    return mst_call(NULL, &mst_op_abs, 1, &src, NULL);
}
