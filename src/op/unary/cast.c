/** cast: dst = src, converted to dtype
 *
 *  src    any shape and dtype
 *  dst    the shape of src; may alias it if the dtype is the same
 *  dtype  of dst
 *
 *  float to integer    rounded towards 0, and limited to the range of dtype; NaN gives 0
 *  integer to integer  wraps around
 *  to f32 or f64       rounded to the nearest
 *  to bf16             rounded to the nearest f32, then to the nearest bf16; of two equally near, to the even one
 *  to bool             src != 0, true for NaN
 *  from bool           0 or 1
 *
 *  Gradients flow between floats only; the gradient of a bf16 value is f32.
 */
#ifdef MST_OP_HEADER
typedef struct mst_cast_options {
    mst_dtype dtype; /**< of the output */
} mst_cast_options;
MST_API mst_value mst_cast(mst_value src, mst_dtype dtype);
#endif
#include "base/bf16.h"
#include "base/saturate.h"
#include "op/elementwise/elementwise.h"

static const mst_field cast_fields[] = {
    MST_FIELD_DTYPE(mst_cast_options, dtype, 0, "of the output"),
    MST_FIELD_END,
};

static mst_status cast_infer(mst_infer *c) {
    const int dtype = (int)((const mst_cast_options *)c->options)->dtype;
    MST_TRY(mst_infer_want_listed(c, 0));
    if (dtype <= MST_NO_DTYPE || dtype >= MST_NUM_DTYPES)
        return mst_infer_fail(c, "%d is no dtype to cast to (f32 is %d, f64 %d, ...)", dtype, MST_F32, MST_F64);
    c->dst[0] = (mst_spec){.dtype = (mst_dtype)dtype, .shape = c->src[0].shape};
    return MST_OK;
}

static mst_value cast_grad(mst_grad *c, int i) {
    (void)i;
    if (!mst_dtype_is_float(mst_value_spec(c->dst[0]).dtype)) return MST_NONE;
    const mst_dtype dtype = mst_value_spec(c->src[0]).dtype;
    return mst_cast(c->ddst[0], dtype == MST_BF16 ? MST_F32 : dtype);
}

/* Converts floats to integers of DTYPE. `beyond` is one more than the largest integer, and `high` the largest float
 * below `beyond`. Floats are limited to the range from `low` to `high`; floats >= `beyond` give the largest integer. */
static mst_hlo integers_of(mst_lower *l, mst_hlo x, mst_dtype dtype) {
    const mst_dtype from = mst_hlo_spec(l, x).dtype;
    const double low = dtype == MST_I32 ? -0x1p31 : dtype == MST_I64 ? -0x1p63 : 0;
    const double beyond = dtype == MST_I32 ? 0x1p31 : dtype == MST_I64 ? 0x1p63 : 256;
    const double high = from == MST_F32 ? nextafterf((float)beyond, 0) : nextafter(beyond, 0);
    const int64_t most = dtype == MST_I32 ? INT32_MAX : dtype == MST_I64 ? INT64_MAX : UINT8_MAX;
    const mst_hlo zero = mst_hlo_number(l, from, 0);
    const mst_hlo number = mst_hlo_select(l, mst_hlo_compare(l, "EQ", x, x), x, zero);
    const mst_hlo within = mst_hlo_clamp(l, mst_hlo_number(l, from, low), number, mst_hlo_number(l, from, high));
    const mst_hlo is_beyond = mst_hlo_compare(l, "GE", x, mst_hlo_number(l, from, beyond));
    return mst_hlo_select(l, is_beyond, mst_hlo_integer(l, dtype, most), mst_hlo_convert(l, within, dtype));
}

/* Converts integers to integers of DTYPE. StableHLO does not define the result for integers that do not fit, so these
 * are wrapped around first. */
static mst_hlo other_integers(mst_lower *l, mst_hlo x, mst_dtype dtype) {
    const mst_dtype from = mst_hlo_spec(l, x).dtype;
    if (dtype == MST_U8 && from != MST_BOOL) x = mst_hlo_binary(l, "and", x, mst_hlo_number(l, from, 255));
    if (dtype == MST_I32 && from == MST_I64) {
        const mst_hlo bits = mst_hlo_number(l, from, 32);
        x = mst_hlo_binary(l, "shift_right_arithmetic", mst_hlo_binary(l, "shift_left", x, bits), bits);
    }
    return mst_hlo_convert(l, x, dtype);
}

static void cast_lower(mst_lower *l) {
    const mst_dtype from = l->src_spec[0].dtype, dtype = l->dst_spec[0].dtype;
    mst_hlo x = l->src[0];
    if (from != dtype && (from == MST_BF16 || dtype == MST_BF16)) x = mst_hlo_convert(l, x, MST_F32);
    if (from == dtype || mst_dtype_is_float(dtype))
        l->dst[0] = mst_hlo_convert(l, x, dtype);
    else if (dtype == MST_BOOL)
        l->dst[0] = mst_hlo_compare(l, "NE", x, mst_hlo_number_like(l, x, 0));
    else if (mst_dtype_is_float(mst_hlo_spec(l, x).dtype))
        l->dst[0] = integers_of(l, x, dtype);
    else
        l->dst[0] = other_integers(l, x, dtype);
}

#define OP f32_of
#define RESULT float
#define OF_FLOAT(x) (x)
#define OF_INTEGER(x) (x)
#include "op/unary/cast_to.inc"

#define OP f64_of
#define RESULT double
#define OF_FLOAT(x) (x)
#define OF_INTEGER(x) (x)
#include "op/unary/cast_to.inc"

#define OP i32_of
#define RESULT int32_t
#define OF_FLOAT(x) mst_saturate_i32((double)(x))
#define OF_INTEGER(x) (x)
#include "op/unary/cast_to.inc"

#define OP i64_of
#define RESULT int64_t
#define OF_FLOAT(x) mst_saturate_i64((double)(x))
#define OF_INTEGER(x) (x)
#include "op/unary/cast_to.inc"

#define OP u8_of
#define RESULT uint8_t
#define OF_FLOAT(x) mst_saturate_u8((double)(x))
#define OF_INTEGER(x) (x)
#include "op/unary/cast_to.inc"

#define OP bool_of
#define RESULT uint8_t
#define OF_FLOAT(x) ((x) != 0)
#define OF_INTEGER(x) ((x) != 0)
#include "op/unary/cast_to.inc"

#define OP bf16_of
#define RESULT uint16_t
#define OF_FLOAT(x) mst_bf16_of((float)(x))
#define OF_INTEGER(x) mst_bf16_of((float)(x))
#include "op/unary/cast_to.inc"

static mst_status cast_reference(const mst_kernel_args *a) {
    static const mst_kernel_function kernel[MST_NUM_DTYPES] = {
        [MST_F32] = f32_of_any, [MST_F64] = f64_of_any,   [MST_I32] = i32_of_any,   [MST_I64] = i64_of_any,
        [MST_U8] = u8_of_any,   [MST_BOOL] = bool_of_any, [MST_BF16] = bf16_of_any,
    };
    return kernel[a->dst[0].dtype](a);
}

#define INTO(D)                            \
    .options = &(const mst_cast_options) { \
        .dtype = MST_##D                   \
    }
static const double zero_and_one[] = {0, 1, 1};

static const mst_example cast_examples[] = {
    {.num_src = 1, .src = {{.ndim = 1, .dim = {3}, .value = zero_and_one}}, INTO(F32), .expect = {zero_and_one}},
    {.num_src = 1, .src = {{.ndim = 1, .dim = {3}, .value = zero_and_one}}, INTO(F64), .expect = {zero_and_one}},
    {.num_src = 1, .src = {{.ndim = 1, .dim = {3}, .value = zero_and_one}}, INTO(I32), .expect = {zero_and_one}},
    {.num_src = 1, .src = {{.ndim = 1, .dim = {3}, .value = zero_and_one}}, INTO(I64), .expect = {zero_and_one}},
    {.num_src = 1, .src = {{.ndim = 1, .dim = {3}, .value = zero_and_one}}, INTO(U8), .expect = {zero_and_one}},
    {.num_src = 1, .src = {{.ndim = 1, .dim = {3}, .value = zero_and_one}}, INTO(BOOL), .expect = {zero_and_one}},
    {.num_src = 1,
     .src = {{.dtype = MST_F32,
              .ndim = 1,
              .dim = {6},
              .value = (const double[]){-2.75, 2.75, 1e20, -1e20, NAN, INFINITY}}},
     INTO(I32),
     .expect = {(const double[]){-2, 2, 0x7fffffff, -0x1p31, 0, 0x7fffffff}}},
    {.num_src = 1,
     .src =
         {{.dtype = MST_F64, .ndim = 1, .dim = {5}, .value = (const double[]){-2.75, 0x1p53, -1e20, NAN, -INFINITY}}},
     INTO(I64),
     .expect = {(const double[]){-2, 0x1p53, -0x1p63, 0, -0x1p63}}},
    {.num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {6}, .value = (const double[]){-2, 2.75, 255.5, 256, NAN, INFINITY}}},
     INTO(U8),
     .expect = {(const double[]){0, 2, 255, 255, 0, 255}}},
    {.num_src = 1,
     .src = {{.dtype = MST_F64, .ndim = 1, .dim = {4}, .value = (const double[]){-0.25, -0.0, NAN, 3}}},
     INTO(BOOL),
     .expect = {(const double[]){1, 0, 1, 1}}},
    {.num_src = 1,
     .src =
         {{.dtype = MST_F64, .ndim = 1, .dim = {3}, .value = (const double[]){0.1, 1e300, -INFINITY}, .no_grad = true}},
     INTO(F32),
     .expect = {(const double[]){0.1f, INFINITY, -INFINITY}}},
    {.num_src = 1,
     .src = {{.dtype = MST_I64, .ndim = 1, .dim = {3}, .value = (const double[]){0x1p32, 0x80000000, -1}}},
     INTO(I32),
     .expect = {(const double[]){0, -0x1p31, -1}}},
    {.num_src = 1,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {3}, .value = (const double[]){256, -1, 77}}},
     INTO(U8),
     .expect = {(const double[]){0, 255, 77}}},
    {.num_src = 1,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {3}, .value = (const double[]){256, 0, -7}}},
     INTO(BOOL),
     .expect = {(const double[]){1, 0, 1}}},
    {.num_src = 1,
     .src = {{.dtype = MST_F32,
              .ndim = 1,
              .dim = {6},
              .value = (const double[]){1, 1 + 0x1p-8, 1 + 3 * 0x1p-8, 3.4e38, NAN, -INFINITY},
              .no_grad = true}},
     INTO(BF16),
     .expect = {(const double[]){1, 1, 1 + 0x1p-6, INFINITY, NAN, -INFINITY}}},
    {.num_src = 1,
     .src = {{.dtype = MST_BF16,
              .ndim = 1,
              .dim = {4},
              .value = (const double[]){1.5, -0x1p-130, NAN, INFINITY},
              .no_grad = true}},
     INTO(F64),
     .expect = {(const double[]){1.5, -0x1p-130, NAN, INFINITY}}},
    {.num_src = 1, .src = {{.dtype = MST_F64, .ndim = 2, .dim = {3, 5}}}, INTO(F64)},
    {.num_src = 1, .src = {{.ndim = 1, .dim = {2}}}, .fails = MST_INVALID},
    {.num_src = 1, .src = {{.ndim = 1, .dim = {2}}}, INTO(NUM_DTYPES), .fails = MST_INVALID},
};

static bool cast_is_identity(const mst_infer *c) {
    return c->src[0].dtype == c->dst[0].dtype;
}

const mst_op mst_op_cast = {
    .name = "cast",
    /* values that the integers cannot hold are undefined in TensorFlow */
    .tf_form =
        "<Cast($0; SrcT=t0 DstT=dtype)\n"
        ">SelectV2(GreaterEqual($0, 2147483648), 2147483647:i32, SelectV2(Less($0, -2147483648), "
        "-2147483648:i32, Cast(SelectV2(IsNan($0), 0, $0); SrcT=t0 DstT=i32))) if float0==1 dtype==i32\n"
        ">SelectV2(GreaterEqual($0, 9223372036854775808), 9223372036854775807:i64, "
        "SelectV2(Less($0, -9223372036854775808), -9223372036854775808:i64, "
        "Cast(SelectV2(IsNan($0), 0, $0); SrcT=t0 DstT=i64))) if float0==1 dtype==i64\n"
        ">Cast(SelectV2(Less($0, 0), 0, SelectV2(Less($0, 256), $0, SelectV2(IsNan($0), 0, 255))); "
        "SrcT=t0 DstT=u8) if float0==1 dtype==u8\n"
        ">Cast($0; SrcT=t0 DstT=dtype)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_STORED_DTYPES,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .fields = cast_fields,
    .options_size = sizeof(mst_cast_options),
    .infer = cast_infer,
    .grad = cast_grad,
    .is_identity = cast_is_identity,
    .reference = cast_reference,
    .lower = cast_lower,
    MST_EXAMPLES(cast_examples),
};

mst_value mst_cast(mst_value src, mst_dtype dtype) {
    return mst_call(NULL, &mst_op_cast, 1, &src, &(mst_cast_options){.dtype = dtype});
}
