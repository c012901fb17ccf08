/** pow: dst = base^exponent
 *
 *  base, exponent  shapes that broadcast as in NumPy, of one dtype: f32, f64, i32, i64 or u8
 *  dst             the broadcast shape, of their dtype; may alias either
 *
 *  0^0 is 1. Integers wrap around; a run fails with MST_INVALID if an integer exponent is negative.
 *  No gradient flows to the exponent if base <= 0.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_pow(mst_value base, mst_value exponent);
#endif
#include "op/elements.h"
#include "op/elementwise/elementwise.h"
#include "op/share.h"

/* d(x^y) = y x^(y - 1) dx + x^y log(x) dy. The first term is 0 if x = y = 0, not 0 * Inf. The second is 0 if x <= 0.
 * The inner select replaces such an x before log(x), so that no NaN gets into the second derivative. */
static mst_value pow_grad(mst_grad *c, int i) {
    mst_value base = c->src[0], exponent = c->src[1], zero = mst_number(base, 0), one = mst_number(base, 1);
    if (i == 0) {
        mst_value corner = mst_logical_and(mst_equal(base, zero), mst_equal(exponent, zero));
        mst_value lower = mst_sub(mst_select(corner, one, exponent), one);
        return mst_unbroadcast(mst_mul(c->ddst[0], mst_mul(exponent, mst_pow(base, lower))), base);
    }
    mst_value positive = mst_greater(base, zero);
    mst_value logarithm = mst_select(positive, mst_log(mst_select(positive, base, one)), zero);
    return mst_unbroadcast(mst_mul(c->ddst[0], mst_mul(c->dst[0], logarithm)), exponent);
}

static void pow_lower(mst_lower *l) {
    const mst_hlo exponent = l->src[1];
    const mst_dtype dtype = l->src_spec[1].dtype;
    if ((MST_DTYPE_BIT(dtype) & MST_INDICES) && mst_shape_count(l->dst_spec[0].shape)) {
        const mst_hlo is_negative = mst_hlo_compare(l, "LT", exponent, mst_hlo_number(l, dtype, 0));
        mst_hlo_fault(l, is_negative, MST_INVALID,
                      "integer to a negative power: an element of the exponent is below 0");
    }
    if (dtype != MST_U8) {
        l->dst[0] = mst_hlo_binary(l, "power", l->src[0], exponent);
        return;
    }
    /* u8 is computed in i32, whose lowest 8 bits are the result: some compilers take large u8 exponents for negative */
    const mst_hlo wide =
        mst_hlo_binary(l, "power", mst_hlo_convert(l, l->src[0], MST_I32), mst_hlo_convert(l, exponent, MST_I32));
    l->dst[0] = mst_hlo_convert(l, mst_hlo_binary(l, "and", wide, mst_hlo_number(l, MST_I32, 255)), MST_U8);
}

/* by squaring, in unsigned arithmetic, which wraps around */
static inline uint64_t power(uint64_t x, int64_t y) {
    uint64_t product = 1;
    for (; y > 0; y >>= 1, x *= x)
        if (y & 1) product *= x;
    return product;
}

/* Fails if one of elements BEGIN to END - 1 of the exponent is negative. */
static mst_status check_exponent(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_array *b = &a->src[1];
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        int64_t exponent = b->dtype == MST_I32 ? ((const int32_t *)b->data)[i] : ((const int64_t *)b->data)[i];
        if (exponent < 0)
            return mst_kernel_fail(a, MST_INVALID, "integer to a negative power: element %lld of the exponent is %lld",
                                   (long long)i, (long long)exponent);
    }
    return MST_OK;
}

#define OP pow_float
#define FORMULA pow(x, y)
#include "op/binary/binary_math.inc"

#define OP pow_integer
#define WORK int64_t
#define FORMULA power((uint64_t)x, y)
#define MST_TEMPLATE "op/binary/binary.inc"
#include "op/integers.inc"

static mst_status pow_reference(const mst_kernel_args *a) {
    static const mst_kernel_function kernel[MST_NUM_DTYPES] = {
        [MST_F32] = pow_float_reference, [MST_F64] = pow_float_reference, [MST_I32] = pow_integer_i32,
        [MST_I64] = pow_integer_i64,     [MST_U8] = pow_integer_u8,
    };
    if ((MST_DTYPE_BIT(a->src[0].dtype) & MST_INDICES) && a->dst[0].count)
        MST_TRY(mst_parallel(a, a->src[1].count, mst_grain(a->src[1].count, 1), check_exponent, mst_context_of(a)));
    return mst_share_elements(a, kernel[a->src[0].dtype]);
}

static const mst_example pow_examples[] = {
    {.num_src = 2,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){1, 2, 3, 5}},
             {.ndim = 1, .dim = {4}, .value = (const double[]){5, 3, 2, 1}}},
     .expect = {(const double[]){1, 8, 9, 5}}},
    {.num_src = 2,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){2, 0}, .no_grad = true},
             {.ndim = 1, .dim = {2}, .value = (const double[]){0, 0}, .no_grad = true}},
     .expect = {(const double[]){1, 1}}},
    {.name = "last axis",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 2}},
             {.ndim = 1, .dim = {3}, .value = (const double[]){1, 2, 3}}},
     .expect = {(const double[]){1, 4, 27, 4, 25, 8}}},
    {.name = "outer",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 1}, .value = (const double[]){2, 3}},
             {.ndim = 2, .dim = {1, 3}, .value = (const double[]){1, 2, 4}}},
     .expect = {(const double[]){2, 4, 16, 3, 9, 81}}},
    {.name = "scalar",
     .num_src = 2,
     .src = {{.value = (const double[]){2}}, {.ndim = 1, .dim = {3}, .value = (const double[]){1, 3, 5}}},
     .expect = {(const double[]){2, 8, 32}}},
    {.num_src = 2,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {3}, .value = (const double[]){-2, -1, 2}},
             {.dtype = MST_I32, .ndim = 1, .dim = {3}, .value = (const double[]){3, 2, 31}}},
     .expect = {(const double[]){-8, 1, -0x1p31}}},
    {.num_src = 2,
     .src = {{.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){-2, 10}},
             {.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){63, 15}}},
     .expect = {(const double[]){-0x1p63, 1000000000000000.0}}},
    {.num_src = 2,
     .src = {{.dtype = MST_U8, .ndim = 1, .dim = {4}, .value = (const double[]){2, 3, 7, 255}},
             {.dtype = MST_U8, .ndim = 1, .dim = {4}, .value = (const double[]){8, 6, 255, 255}}},
     .expect = {(const double[]){0, 217, 183, 255}}},
    {.num_src = 2,
     .src = {{.dtype = MST_F64, .ndim = 1, .dim = {3}, .value = (const double[]){2, 4, 0.25}},
             {.dtype = MST_F64, .ndim = 1, .dim = {3}, .value = (const double[]){-1, 0.5, -0.5}}},
     .expect = {(const double[]){0.5, 2, 2}}},
    {.num_src = 2,
     .src = {{.dtype = MST_F64, .ndim = 1, .dim = {4}, .value = (const double[]){-2, -8, 0, 0}, .no_grad = true},
             {.dtype = MST_F64, .ndim = 1, .dim = {4}, .value = (const double[]){3, 0.5, -1, 0}, .no_grad = true}},
     .expect = {(const double[]){-8, NAN, INFINITY, 1}}},
    {.name = "negative power",
     .num_src = 2,
     .dtypes = MST_INDICES,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){2, 3}},
             {.ndim = 1, .dim = {2}, .value = (const double[]){1, -1}}},
     .fails = MST_INVALID},
    {.name = "negative base",
     .num_src = 2,
     .src = {{.dtype = MST_F64, .ndim = 1, .dim = {3}, .low = -2, .high = -1},
             {.dtype = MST_F64, .value = (const double[]){3}, .no_grad = true}}},
    {.num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 1, 4}, .low = 1, .high = 2}, {.ndim = 2, .dim = {3, 1}, .low = 0, .high = 3}}},
    MST_BINARY_EXAMPLES,
};

const mst_op mst_op_pow = {
    .name = "pow",
    .tf_form = "Pow($0, $1)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .may_alias = true,
    .infer = mst_infer_binary,
    .grad = pow_grad,
    .reference = pow_reference,
    .lower = pow_lower,
    MST_EXAMPLES(pow_examples),
};

mst_value mst_pow(mst_value base, mst_value exponent) {
    return mst_call(NULL, &mst_op_pow, 2, (const mst_value[]){base, exponent}, NULL);
}
