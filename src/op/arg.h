/** What argmax and argmin share; mst_arg_infer is defined in argmax.c. */
#ifndef MUSTER_OP_ARG_H
#define MUSTER_OP_ARG_H

#include "base/simd.h"
#include "muster/op.h"

enum { MST_ARG_LANES = 32 };

/** Checks AXIS and DTYPE and gives dst[0] the shape of source 0 without the axis. */
MST_CHECKED mst_status mst_arg_infer(mst_infer *c, int axis, mst_dtype dtype);

/** src is [outer, size, inner]: the best is sought along size. */
typedef struct mst_arg_sizes {
    int64_t outer, size, inner;
} mst_arg_sizes;

static inline mst_arg_sizes mst_arg_sizes_of(const mst_shape *shape, int axis) {
    if (axis < 0) axis += shape->ndim;
    mst_arg_sizes s = {.outer = 1, .size = shape->dim[axis], .inner = 1};
    for (int k = 0; k < axis; k++) s.outer *= shape->dim[k];
    for (int k = axis + 1; k < shape->ndim; k++) s.inner *= shape->dim[k];
    return s;
}

static inline void mst_arg_store(const mst_array *dst, int64_t i, int64_t index) {
    if (dst->dtype == MST_I32)
        ((int32_t *)dst->data)[i] = (int32_t)index;
    else
        ((int64_t *)dst->data)[i] = index;
}

/** Defines `static void name(const mst_arg_sizes *s, const T *src, const mst_array *dst)`, which stores the first index
 *  of which no other is better; `better(x, best)` compares elements, of which two where neither is better are the same.
 *  Along the last dimension the best is found first, in MST_ARG_LANES interleaved parts, then its place. */
#define MST_ARG_LOOPS(name, T, better)                                                                         \
    static int64_t name##_in_short_row(const T *src, int64_t n) {                                              \
        int64_t at = 0;                                                                                        \
        for (int64_t i = 1; i < n; i++)                                                                        \
            if (better(src[i], src[at])) at = i;                                                               \
        return at;                                                                                             \
    }                                                                                                          \
    MST_SIMD static int64_t name##_in_row(const T *src, int64_t n) {                                           \
        T lane[MST_ARG_LANES];                                                                                 \
        int64_t i = 0;                                                                                         \
        for (int k = 0; k < MST_ARG_LANES; k++) lane[k] = src[0];                                              \
        for (; i + MST_ARG_LANES <= n; i += MST_ARG_LANES)                                                     \
            for (int k = 0; k < MST_ARG_LANES; k++) {                                                          \
                const T x = src[i + k], best = lane[k];                                                        \
                lane[k] = better(x, best) ? x : best;                                                          \
            }                                                                                                  \
        T most = lane[0];                                                                                      \
        for (int k = 1; k < MST_ARG_LANES; k++) most = better(lane[k], most) ? lane[k] : most;                 \
        for (; i < n; i++) most = better(src[i], most) ? src[i] : most;                                        \
        for (i = 0; i + MST_ARG_LANES <= n; i += MST_ARG_LANES) {                                              \
            int found = 0;                                                                                     \
            for (int k = 0; k < MST_ARG_LANES; k++) found |= !(better(most, src[i + k]));                      \
            if (found) break;                                                                                  \
        }                                                                                                      \
        while (better(most, src[i])) i++;                                                                      \
        return i;                                                                                              \
    }                                                                                                          \
    static void name##_in_columns(const mst_arg_sizes *s, const T *src, const mst_array *dst) {                \
        enum { WIDTH = 64 };                                                                                   \
        T best[WIDTH];                                                                                         \
        int64_t at[WIDTH];                                                                                     \
        for (int64_t o = 0; o < s->outer; o++, src += s->size * s->inner)                                      \
            for (int64_t j0 = 0; j0 < s->inner; j0 += WIDTH) {                                                 \
                const int64_t n = s->inner - j0 < WIDTH ? s->inner - j0 : WIDTH;                               \
                for (int64_t j = 0; j < n; j++) {                                                              \
                    best[j] = src[j0 + j];                                                                     \
                    at[j] = 0;                                                                                 \
                }                                                                                              \
                for (int64_t i = 1; i < s->size; i++)                                                          \
                    for (int64_t j = 0; j < n; j++) {                                                          \
                        const T x = src[i * s->inner + j0 + j];                                                \
                        if (!better(x, best[j])) continue;                                                     \
                        best[j] = x;                                                                           \
                        at[j] = i;                                                                             \
                    }                                                                                          \
                for (int64_t j = 0; j < n; j++) mst_arg_store(dst, o * s->inner + j0 + j, at[j]);              \
            }                                                                                                  \
    }                                                                                                          \
    static void name(const mst_arg_sizes *s, const T *src, const mst_array *dst) {                             \
        if (s->inner != 1) {                                                                                   \
            name##_in_columns(s, src, dst);                                                                    \
            return;                                                                                            \
        }                                                                                                      \
        for (int64_t o = 0; o < s->outer; o++, src += s->size) {                                               \
            const bool is_short = s->size < MST_ARG_LANES;                                                     \
            mst_arg_store(dst, o, is_short ? name##_in_short_row(src, s->size) : name##_in_row(src, s->size)); \
        }                                                                                                      \
    }

#endif
