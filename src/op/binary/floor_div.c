/** floor_div: dst = floor(a / b)
 *
 *  a, b  shapes that broadcast as in NumPy, of one dtype: f32, f64, i32, i64 or u8
 *  dst   the broadcast shape, of their dtype; may alias either
 *
 *  The smallest integer / -1 wraps around to itself. A run fails with MST_INVALID if b has integers and one of them is
 *  0.
 *  No gradient flows through.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_floor_div(mst_value a, mst_value b);
#endif
#include "op/binary/division.h"
#include "op/elementwise/elementwise.h"

static void floor_div_lower(mst_lower *l) {
    const mst_dtype dtype = l->src_spec[0].dtype;
    if (mst_dtype_is_float(dtype)) {
        l->dst[0] = mst_hlo_unary(l, "floor", mst_hlo_binary(l, "divide", l->src[0], l->src[1]));
        return;
    }
    const mst_hlo divisor = mst_divisor_lower(l), quotient = mst_quotient_lower(l, divisor);
    const mst_hlo is_above = mst_rest_is_off(l, mst_hlo_binary(l, "remainder", l->src[0], divisor), divisor);
    l->dst[0] = mst_hlo_binary(l, "subtract", quotient, mst_hlo_convert(l, is_above, dtype));
}

/* rounded down; 64 bits are wide enough for all quotients except the smallest i64 / -1, which wraps around */
static inline int64_t quotient(int64_t x, int64_t y) {
    if (y == -1) return (int64_t)(0u - (uint64_t)x);
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

#define OP floor_div_unchecked
#define INTEGER_FORMULA quotient(x, y)
#define FORMULA floor(x / y)
#include "op/binary/binary_numbers.inc"

static mst_status floor_div_reference(const mst_kernel_args *a) {
    return mst_divide(a, floor_div_unchecked_reference);
}

/* the expected results of the examples in broadcast_examples.inc */
#define LAST_AXIS 6, 3, 2, 9, 5, 4
#define OUTER 7, 3, 1, 9, 4, 2
#define SCALAR 2, 3, 4
#define NO_GRAD true
static const mst_example floor_div_examples[] = {
#include "op/binary/broadcast_examples.inc"
    {.num_src = 2,
     .dtypes = MST_INDICES,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){7, -7, 7, -7}},
             {.ndim = 1, .dim = {4}, .value = (const double[]){2, 2, -2, -2}}},
     .expect = {(const double[]){3, -4, -4, 3}}},
    {.num_src = 2,
     .dtypes = MST_FLOATS,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){7, -7, 7, -7}, .no_grad = true},
             {.ndim = 1, .dim = {4}, .value = (const double[]){2, 2, -2, -2}, .no_grad = true}},
     .expect = {(const double[]){3, -4, -4, 3}}},
    {.num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {3}, .value = (const double[]){1, -1, 0}, .no_grad = true},
             {.dtype = MST_F32, .ndim = 1, .dim = {3}, .value = (const double[]){0, 0, 0}, .no_grad = true}},
     .expect = {(const double[]){INFINITY, -INFINITY, NAN}}},
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
     .src = {{.ndim = 2, .dim = {2, 3}, .low = 1, .high = 5, .no_grad = true},
             {.ndim = 2, .dim = {2, 3}, .low = 1, .high = 5, .no_grad = true}}},
    MST_BINARY_EXAMPLES,
};

const mst_op mst_op_floor_div = {
    .name = "floor_div",
    .tf_form = "FloorDiv($0, $1)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_INFALLIBLE_FLOATS,
    .may_alias = true,
    .infer = mst_infer_binary,
    .reference = floor_div_reference,
    .lower = floor_div_lower,
    MST_EXAMPLES(floor_div_examples),
};

mst_value mst_floor_div(mst_value a, mst_value b) {
    return mst_call(NULL, &mst_op_floor_div, 2, (const mst_value[]){a, b}, NULL);
}
