#include "data/scaled_cast.h"

#include "base/simd.h"

#define TO_FLOAT(name, from, to)                                                       \
    MST_SIMD static void name(const void *source, void *target, int64_t n, double f) { \
        const from *restrict src = source;                                             \
        to *restrict dst = target;                                                     \
        const to factor = (to)f;                                                       \
        for (int64_t i = 0; i < n; i++) dst[i] = (to)src[i] * factor;                  \
    }

#define TO_INTEGER(name, from, to)                                            \
    static void name(const void *source, void *target, int64_t n, double f) { \
        const from *restrict src = source;                                    \
        to *restrict dst = target;                                            \
        (void)f;                                                              \
        for (int64_t i = 0; i < n; i++) dst[i] = (to)src[i];                  \
    }

TO_FLOAT(f32_f32, float, float)
TO_FLOAT(f64_f32, double, float)
TO_FLOAT(i32_f32, int32_t, float)
TO_FLOAT(i64_f32, int64_t, float)
TO_FLOAT(u8_f32, uint8_t, float)
TO_FLOAT(f32_f64, float, double)
TO_FLOAT(f64_f64, double, double)
TO_FLOAT(i32_f64, int32_t, double)
TO_FLOAT(i64_f64, int64_t, double)
TO_FLOAT(u8_f64, uint8_t, double)
TO_INTEGER(i32_i32, int32_t, int32_t)
TO_INTEGER(i64_i32, int64_t, int32_t)
TO_INTEGER(u8_i32, uint8_t, int32_t)
TO_INTEGER(i32_i64, int32_t, int64_t)
TO_INTEGER(i64_i64, int64_t, int64_t)
TO_INTEGER(u8_i64, uint8_t, int64_t)
TO_INTEGER(i32_u8, int32_t, uint8_t)
TO_INTEGER(i64_u8, int64_t, uint8_t)
TO_INTEGER(u8_u8, uint8_t, uint8_t)
TO_INTEGER(i32_bool, int32_t, bool)
TO_INTEGER(i64_bool, int64_t, bool)
TO_INTEGER(u8_bool, uint8_t, bool)

mst_convert mst_convert_find(mst_dtype from, mst_dtype to) {
    static const mst_convert table[MST_NUM_DTYPES][MST_NUM_DTYPES] = {
        [MST_F32] = {[MST_F32] = f32_f32, [MST_F64] = f32_f64},
        [MST_F64] = {[MST_F32] = f64_f32, [MST_F64] = f64_f64},
        [MST_I32] = {[MST_F32] = i32_f32,
                     [MST_F64] = i32_f64,
                     [MST_I32] = i32_i32,
                     [MST_I64] = i32_i64,
                     [MST_U8] = i32_u8,
                     [MST_BOOL] = i32_bool},
        [MST_I64] = {[MST_F32] = i64_f32,
                     [MST_F64] = i64_f64,
                     [MST_I32] = i64_i32,
                     [MST_I64] = i64_i64,
                     [MST_U8] = i64_u8,
                     [MST_BOOL] = i64_bool},
        [MST_U8] = {[MST_F32] = u8_f32,
                    [MST_F64] = u8_f64,
                    [MST_I32] = u8_i32,
                    [MST_I64] = u8_i64,
                    [MST_U8] = u8_u8,
                    [MST_BOOL] = u8_bool},
        /* a bool is stored as a byte, 0 or 1 */
        [MST_BOOL] = {[MST_F32] = u8_f32,
                      [MST_F64] = u8_f64,
                      [MST_I32] = u8_i32,
                      [MST_I64] = u8_i64,
                      [MST_U8] = u8_u8,
                      [MST_BOOL] = u8_u8},
    };
    return table[from][to];
}
