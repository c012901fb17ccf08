/** neg: dst = -src
 *
 *  src  any shape, f32, f64, i32, i64 or u8
 *  dst  like src; may alias it
 *
 *  Integers wrap around: the smallest integer is its own negative, and -src of u8 is 256 - src.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_neg(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

static mst_value neg_grad(mst_grad *c, int i) {
    (void)i;
    return mst_neg(c->ddst[0]);
}

/* integers in unsigned arithmetic, which wraps around */
#define OP neg
#define WORK MODULAR /* integers wrap around */
#define FORMULA (-x)
#include "op/unary/unary_numbers.inc"

static const mst_example neg_examples[] = {
    {.num_src = 1,
     .dtypes = MST_FLOATS | MST_INDICES,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, 0, 1, 3}}},
     .expect = {(const double[]){2, 0, -1, -3}}},
    {.num_src = 1,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {2}, .value = (const double[]){-0x1p31, 5}}},
     .expect = {(const double[]){-0x1p31, -5}}},
    {.num_src = 1,
     .src = {{.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){-0x1p63, 5}}},
     .expect = {(const double[]){-0x1p63, -5}}},
    {.num_src = 1,
     .src = {{.dtype = MST_U8, .ndim = 1, .dim = {3}, .value = (const double[]){0, 1, 255}}},
     .expect = {(const double[]){0, 255, 1}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}},
};

const mst_op mst_op_neg = {
    .name = "neg",
    .tf_form = "Neg($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = neg_grad,
    .reference = neg_reference,
    .hlo = "negate",
    MST_EXAMPLES(neg_examples),
};

mst_value mst_neg(mst_value src) {
    return mst_call(NULL, &mst_op_neg, 1, &src, NULL);
}
