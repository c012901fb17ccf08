/** Element by element ops: reference kernels for all dtypes with NumPy broadcasting, and the inference they share.
 *
 *  A formula is written once, in x (and y) of the type T that it is computed in, and a macro makes the loops: one a
 *  dtype, all of them plain loops over contiguous memory. Broadcasting goes by rows, in which each source either runs
 *  along or stays at one element.
 *
 *      MST_UNARY_FLOATS(1 / x)
 *      MST_UNARY_MATH(exp(x))
 *      MST_BINARY_ARITHMETIC(x + y)
 *
 *  Functions of <math.h> are those of <tgmath.h> here: exp(x) of a float is computed as a float. A formula that calls
 *  one of base/simd_math.h takes a macro named MATH, which gives an element the same bits wherever it stands. The
 *  others are exact operations, of which a loop may do some in vectors and the rest one by one. */
#ifndef MUSTER_OP_ELEMENTWISE_H
#define MUSTER_OP_ELEMENTWISE_H

#include <math.h>
#include <tgmath.h>

#include "base/saturate.h"
#include "base/simd.h"
#include "base/simd_math.h"
#include "muster/op.h"
#include "muster/ops.h"

/* ---- inference and gradients ---------------------------------------------------------------------- */

/** dst[0] is like source 0, whose dtype the op lists. */
MST_CHECKED mst_status mst_infer_unary(mst_infer *c);
/** dst[0] has the shape of source 0, whose dtype the op lists, and is bool. */
MST_CHECKED mst_status mst_infer_predicate(mst_infer *c);
/** dst[0] is what sources 0 and 1, of one listed dtype, broadcast to. */
MST_CHECKED mst_status mst_infer_binary(mst_infer *c);
/** As mst_infer_binary, with a bool output. */
MST_CHECKED mst_status mst_infer_comparison(mst_infer *c);
/** dst[0] has the dtype and shape of sources 0 and 1, which must be the same. */
MST_CHECKED mst_status mst_infer_same_spec(mst_infer *c);

/* Gradients that are ops of their own, internal to the library: GRADIENT is that of the op's OUTPUT. */
mst_value mst_relu_grad(mst_value gradient, mst_value output);
mst_value mst_relu6_grad(mst_value gradient, mst_value output);
mst_value mst_sigmoid_grad(mst_value gradient, mst_value output);
mst_value mst_tanh_grad(mst_value gradient, mst_value output);

/** NUMBER as a scalar of LIKE's dtype. */
static inline mst_value mst_number(mst_value like, double number) {
    return mst_scalar(mst_value_graph(like), mst_value_spec(like).dtype, number);
}

/* ---- rows of broadcast arrays --------------------------------------------------------------------- */

enum { MST_BROADCAST_SRC = 3 };

/** A walk over output 0 in rows. Neighbouring dimensions along which the same sources vary are merged into one. */
typedef struct mst_broadcast {
    int num_src;
    int64_t inner;                     /**< elements of a row */
    bool varies[MST_BROADCAST_SRC];    /**< along the row; else the source stays at one element */
    int64_t offset[MST_BROADCAST_SRC]; /**< of the row in each source, in elements */
    int ndim;                          /**< dimensions outside the row */
    int64_t dim[MST_MAX_NDIM], index[MST_MAX_NDIM], stride[MST_BROADCAST_SRC][MST_MAX_NDIM];
} mst_broadcast;

/** The first row. Output 0 must not be empty. */
mst_broadcast mst_broadcast_make(const mst_kernel_args *a);
/** Goes to the next row; false after the last. */
bool mst_broadcast_next(mst_broadcast *b);

/** Error where an element of the integer source 1 is 0 and something is divided by it. */
MST_CHECKED mst_status mst_check_divisor(const mst_kernel_args *a);

/* ---- kernels -------------------------------------------------------------------------------------- */

/** Defines the kernel `name`, which runs the one of source 0's dtype. */
#define MST_REFERENCE_AS(name, ...)                                              \
    static mst_status name(const mst_kernel_args *a) {                           \
        static const mst_kernel_function kernel[MST_NUM_DTYPES] = {__VA_ARGS__}; \
        return kernel[a->src[0].dtype](a);                                       \
    }

/** Defines the kernel `reference`: MST_REFERENCE([MST_F32] = f32, ...). */
#define MST_REFERENCE(...) MST_REFERENCE_AS(reference, __VA_ARGS__)

/** Defines the kernel `name` from elements S to elements D, with x converted to the type W. */
#define MST_UNARY(name, S, W, D, expression)                                \
    MST_SIMD static void name##_loop(const S *src, D *dst, int64_t count) { \
        typedef W T;                                                        \
        _Pragma("omp simd") for (int64_t i = 0; i < count; i++) {           \
            const T x = (T)src[i];                                          \
            dst[i] = (D)(expression);                                       \
        }                                                                   \
    }                                                                       \
    static mst_status name(const mst_kernel_args *a) {                      \
        name##_loop(a->src[0].data, a->dst[0].data, a->dst[0].count);       \
        return MST_OK;                                                      \
    }

/** The same from f32 to f32, for an expression that calls functions of base/simd_math.h. */
#define MST_UNARY_MATH_F32(name, expression)                                        \
    MST_SIMD static void name##_loop(const float *src, float *dst, int64_t count) { \
        typedef float T;                                                            \
        MST_VECTOR_LOOP(dst, count, src, true, src, true, (T)(expression))          \
    }                                                                               \
    static mst_status name(const mst_kernel_args *a) {                              \
        name##_loop(a->src[0].data, a->dst[0].data, a->dst[0].count);               \
        return MST_OK;                                                              \
    }

#define MST_BINARY_LOOP(D, x_of_i, y_of_i, expression)        \
    _Pragma("omp simd") for (int64_t i = 0; i < count; i++) { \
        const T x = (x_of_i), y = (y_of_i);                   \
        dst[i] = (D)(expression);                             \
    }

/** The same from two sources of elements S that broadcast. At least one of them varies along the row, unless the row
 *  has one element. */
#define MST_BINARY(name, S, W, D, expression)                                                                        \
    MST_SIMD static void name##_row(const S *xs, bool x_varies, const S *ys, bool y_varies, D *dst, int64_t count) { \
        typedef W T;                                                                                                 \
        const T first_x = (T)*xs, first_y = (T)*ys;                                                                  \
        if (x_varies && y_varies)                                                                                    \
            MST_BINARY_LOOP(D, (T)xs[i], (T)ys[i], expression)                                                       \
        else if (x_varies)                                                                                           \
            MST_BINARY_LOOP(D, (T)xs[i], first_y, expression)                                                        \
        else                                                                                                         \
            MST_BINARY_LOOP(D, first_x, (T)ys[i], expression)                                                        \
    }                                                                                                                \
    MST_BINARY_KERNEL(name, S, D)

/** The same of f32, for an expression that calls functions of base/simd_math.h. */
#define MST_BINARY_MATH_F32(name, expression)                                                                   \
    MST_SIMD static void name##_row(const float *xs, bool x_varies, const float *ys, bool y_varies, float *dst, \
                                    int64_t count){                                                             \
        MST_VECTOR_LOOP(dst, count, xs, x_varies, ys, y_varies, expression)} MST_BINARY_KERNEL(name, float, float)

/** The kernel `name` of the function name_row. */
#define MST_BINARY_KERNEL(name, S, D)                                                               \
    static mst_status name(const mst_kernel_args *a) {                                              \
        const S *xs = a->src[0].data, *ys = a->src[1].data;                                         \
        D *dst = a->dst[0].data;                                                                    \
        if (a->dst[0].count == 0) return MST_OK;                                                    \
        mst_broadcast b = mst_broadcast_make(a);                                                    \
        do {                                                                                        \
            name##_row(xs + b.offset[0], b.varies[0], ys + b.offset[1], b.varies[1], dst, b.inner); \
            dst += b.inner;                                                                         \
        } while (mst_broadcast_next(&b));                                                           \
        return MST_OK;                                                                              \
    }

/** `reference` for f32 and f64. */
#define MST_UNARY_FLOATS(expression)                   \
    MST_UNARY(f32, float, float, float, expression)    \
    MST_UNARY(f64, double, double, double, expression) \
    MST_REFERENCE([MST_F32] = f32, [MST_F64] = f64)

/** The same for an expression that calls functions of base/simd_math.h. */
#define MST_UNARY_MATH(expression)                     \
    MST_UNARY_MATH_F32(f32, expression)                \
    MST_UNARY(f64, double, double, double, expression) \
    MST_REFERENCE([MST_F32] = f32, [MST_F64] = f64)

/** `reference` for f32 and f64, that gives 0 or 1. */
#define MST_PREDICATE_FLOATS(expression)                \
    MST_UNARY(f32, float, float, uint8_t, expression)   \
    MST_UNARY(f64, double, double, uint8_t, expression) \
    MST_REFERENCE([MST_F32] = f32, [MST_F64] = f64)

#define MST_BINARY_FLOATS(expression) MST_BINARY_FLOATS_AS(, expression)

/** The same with PREFIX before the names: grad_reference, for a gradient in the file of its op. */
#define MST_BINARY_FLOATS_AS(prefix, expression)                \
    MST_BINARY(prefix##f32, float, float, float, expression)    \
    MST_BINARY(prefix##f64, double, double, double, expression) \
    MST_REFERENCE_AS(prefix##reference, [MST_F32] = prefix##f32, [MST_F64] = prefix##f64)

/** The same for an expression that calls functions of base/simd_math.h. */
#define MST_BINARY_MATH(expression)                     \
    MST_BINARY_MATH_F32(f32, expression)                \
    MST_BINARY(f64, double, double, double, expression) \
    MST_REFERENCE([MST_F32] = f32, [MST_F64] = f64)

/** `reference` for all numbers, out of + - * : integers are computed unsigned, so that they wrap around. */
#define MST_BINARY_ARITHMETIC(expression)                   \
    MST_BINARY(f32, float, float, float, expression)        \
    MST_BINARY(f64, double, double, double, expression)     \
    MST_BINARY(i32, int32_t, uint32_t, int32_t, expression) \
    MST_BINARY(i64, int64_t, uint64_t, int64_t, expression) \
    MST_BINARY(u8, uint8_t, uint32_t, uint8_t, expression)  \
    MST_REFERENCE([MST_F32] = f32, [MST_F64] = f64, [MST_I32] = i32, [MST_I64] = i64, [MST_U8] = u8)

/** The kernels f32, ... of all numbers, that give 0 or 1. */
#define MST_COMPARISON_KERNELS(expression)                 \
    MST_BINARY(f32, float, float, uint8_t, expression)     \
    MST_BINARY(f64, double, double, uint8_t, expression)   \
    MST_BINARY(i32, int32_t, int32_t, uint8_t, expression) \
    MST_BINARY(i64, int64_t, int64_t, uint8_t, expression) \
    MST_BINARY(u8, uint8_t, uint8_t, uint8_t, expression)

/** `reference` for all numbers and bool, that gives 0 or 1. */
#define MST_COMPARISON(expression)     \
    MST_COMPARISON_KERNELS(expression) \
    MST_REFERENCE([MST_F32] = f32, [MST_F64] = f64, [MST_I32] = i32, [MST_I64] = i64, [MST_U8] = u8, [MST_BOOL] = u8)

/** The same for strings too, whose elements are compared by STRING_EXPRESSION of x and y. */
#define MST_EQUALITY(expression, string_expression)                                                                   \
    MST_COMPARISON_KERNELS(expression)                                                                                \
    static void string_row(const mst_string *xs, bool x_varies, const mst_string *ys, bool y_varies, uint8_t *dst,    \
                           int64_t count) {                                                                           \
        for (int64_t i = 0; i < count; i++) {                                                                         \
            const mst_string x = xs[x_varies ? i : 0], y = ys[y_varies ? i : 0];                                      \
            dst[i] = (string_expression);                                                                             \
        }                                                                                                             \
    }                                                                                                                 \
    MST_BINARY_KERNEL(string, mst_string, uint8_t)                                                                    \
    MST_REFERENCE([MST_F32] = f32, [MST_F64] = f64, [MST_I32] = i32, [MST_I64] = i64, [MST_U8] = u8, [MST_BOOL] = u8, \
                  [MST_STRING] = string)
/* ---- examples ------------------------------------------------------------------------------------- */

/** What every op of two sources that broadcast is tried with: no elements, shapes that do not fit, two dtypes. */
#define MST_BINARY_EXAMPLES                                                                            \
    {.name = "empty",                                                                                  \
     .num_src = 2,                                                                                     \
     .src = {{.ndim = 2, .dim = {0, 3}}, {.ndim = 1, .dim = {3}, .low = 1, .high = 3}}},               \
        {.name = "shapes that do not broadcast",                                                       \
         .num_src = 2,                                                                                 \
         .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 1, .dim = {2}}},                                 \
         .fails = MST_INVALID},                                                                        \
    {                                                                                                  \
        .name = "dtypes differ", .num_src = 2,                                                         \
        .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}}, {.dtype = MST_I32, .ndim = 1, .dim = {2}}}, \
        .fails = MST_INVALID                                                                           \
    }

#endif
