/** div: dst = a / b
 *
 *  a, b  shapes that broadcast as in NumPy, of one dtype: f32, f64, i32, i64 or u8
 *  dst   the broadcast shape, of their dtype; may alias either
 *
 *  Quotients of integers are rounded towards 0 (floor_div rounds down). The smallest integer / -1 wraps around to
 *  itself. A run fails with MST_INVALID if b has integers and one of them is 0.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_div(mst_value a, mst_value b);
#endif
#include "op/binary/division.h"
#include "op/elementwise/elementwise.h"

/* d(a / b) = da / b - (a / b) db / b */
static mst_value div_grad(mst_grad *c, int i) {
    mst_value share = mst_div(c->ddst[0], c->src[1]);
    return mst_unbroadcast(i == 0 ? share : mst_neg(mst_mul(share, c->dst[0])), c->src[i]);
}

static void div_lower(mst_lower *l) {
    const bool is_float = mst_dtype_is_float(l->src_spec[0].dtype);
    l->dst[0] =
        is_float ? mst_hlo_binary(l, "divide", l->src[0], l->src[1]) : mst_quotient_lower(l, mst_divisor_lower(l));
}

/* 64 bits are wide enough for all quotients except the smallest i64 / -1, which wraps around */
static inline int64_t quotient(int64_t x, int64_t y) {
    return y == -1 ? (int64_t)(0u - (uint64_t)x) : x / y;
}

#define OP div_unchecked
#define INTEGER_FORMULA quotient(x, y)
#define FORMULA (x / y)
#include "op/binary/binary_numbers.inc"

static mst_status div_reference(const mst_kernel_args *a) {
    return mst_divide(a, div_unchecked_reference);
}

static const mst_example div_examples[] = {
    {.num_src = 2,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){8, 9, 10}},
             {.ndim = 1, .dim = {3}, .value = (const double[]){2, 3, 5}}},
     .expect = {(const double[]){4, 3, 2}}},
    {.name = "last axis",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){8, 9, 10, 12, 6, 20}},
             {.ndim = 1, .dim = {3}, .value = (const double[]){2, 3, 5}}},
     .expect = {(const double[]){4, 3, 2, 6, 2, 4}}},
    {.name = "outer",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 1}, .value = (const double[]){12, 24}},
             {.ndim = 2, .dim = {1, 3}, .value = (const double[]){1, 2, 4}}},
     .expect = {(const double[]){12, 6, 3, 24, 12, 6}}},
    {.name = "scalar",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){2, 4, 6}}, {.value = (const double[]){2}}},
     .expect = {(const double[]){1, 2, 3}}},
    {.num_src = 2,
     .dtypes = MST_INDICES,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){7, -7, 7, -7}},
             {.ndim = 1, .dim = {4}, .value = (const double[]){2, 2, -2, -2}}},
     .expect = {(const double[]){3, -3, -3, 3}}},
    {.num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {4}, .value = (const double[]){1, -1, 0, 7}, .no_grad = true},
             {.dtype = MST_F32, .ndim = 1, .dim = {4}, .value = (const double[]){0, 0, 0, 2}, .no_grad = true}},
     .expect = {(const double[]){INFINITY, -INFINITY, NAN, 3.5}}},
    {.num_src = 2,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {2}, .value = (const double[]){-0x1p31, -0x1p31}},
             {.dtype = MST_I32, .ndim = 1, .dim = {2}, .value = (const double[]){-1, 1}}},
     .expect = {(const double[]){-0x1p31, -0x1p31}}},
    {.num_src = 2,
     .src = {{.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){-0x1p63, -0x1p63}},
             {.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){-1, 1}}},
     .expect = {(const double[]){-0x1p63, -0x1p63}}},
    {.name = "division by zero",
     .num_src = 2,
     .dtypes = MST_INDICES | MST_DTYPE_BIT(MST_U8),
     .src = {{.ndim = 1, .dim = {3}, .low = 1, .high = 5}, {.ndim = 1, .dim = {3}, .value = (const double[]){1, 0, 2}}},
     .fails = MST_INVALID},
    {.name = "nothing divided by zero",
     .num_src = 2,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {0}}, {.dtype = MST_I32, .value = (const double[]){0}}}},
    {.num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}, .low = 1, .high = 5}, {.ndim = 2, .dim = {2, 3}, .low = 1, .high = 5}}},
    {.num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 1, 4}, .low = 1, .high = 5}, {.ndim = 2, .dim = {3, 1}, .low = 1, .high = 5}}},
    MST_BINARY_EXAMPLES,
};

const mst_op mst_op_div = {
    .name = "div",
    .tf_form =
        "Div($0, $1)\n"
        "<RealDiv($0, $1)\n"
        "<TruncateDiv($0, $1)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_INFALLIBLE_FLOATS,
    .may_alias = true,
    .infer = mst_infer_binary,
    .grad = div_grad,
    .reference = div_reference,
    .lower = div_lower,
    MST_EXAMPLES(div_examples),
};

mst_value mst_div(mst_value a, mst_value b) {
    return mst_call(NULL, &mst_op_div, 2, (const mst_value[]){a, b}, NULL);
}
