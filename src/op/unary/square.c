/** square: dst = src^2
 *
 *  src  any shape, f32, f64, i32, i64 or u8
 *  dst  like src; may alias it
 *
 *  Integers wrap around.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_square(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

static mst_value square_grad(mst_grad *c, int i) {
    (void)i;
    return mst_scale(mst_mul(c->ddst[0], c->src[0]), 2);
}

static void square_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_binary(l, "multiply", l->src[0], l->src[0]);
}

/* integers in unsigned arithmetic, which wraps around */
#define OP square
#define WORK MODULAR /* integers wrap around */
#define FORMULA (x * x)
#include "op/unary/unary_numbers.inc"

static const mst_example square_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){0, 1, 2, 15}}},
     .expect = {(const double[]){0, 1, 4, 225}}},
    {.num_src = 1,
     .dtypes = MST_FLOATS | MST_INDICES,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){-3, 2}}},
     .expect = {(const double[]){9, 4}}},
    {.num_src = 1,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {2}, .value = (const double[]){65536, 46341}}},
     .expect = {(const double[]){0, -2147479015}}},
    {.num_src = 1,
     .src = {{.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){4294967296, 3}}},
     .expect = {(const double[]){0, 9}}},
    {.num_src = 1,
     .src = {{.dtype = MST_U8, .ndim = 1, .dim = {2}, .value = (const double[]){16, 17}}},
     .expect = {(const double[]){0, 33}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}},
};

const mst_op mst_op_square = {
    .name = "square",
    .tf_form = "Square($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = square_grad,
    .reference = square_reference,
    .lower = square_lower,
    MST_EXAMPLES(square_examples),
};

mst_value mst_square(mst_value src) {
    return mst_call(NULL, &mst_op_square, 1, &src, NULL);
}
