/** Reductions: which elements go into which output, and the loops over them.
 *
 *  A reduction sees its source as groups of neighbouring dimensions that are all kept or all reduced. The innermost
 *  group is contiguous: where it is reduced, rows are folded into single values; where it is kept, rows are folded into
 *  an accumulator row (column sums). Which elements meet in which order depends on the shape alone, so that the result
 *  is the same on every machine and for every number of threads.
 */
#ifndef MUSTER_OP_REDUCE_H
#define MUSTER_OP_REDUCE_H

#include "base/simd.h"
#include "muster/op.h"

enum { MST_MAX_REDUCED = 2 * MST_MAX_NDIM };

typedef struct mst_loops {
    int num;
    int64_t dim[MST_MAX_REDUCED], stride[MST_MAX_REDUCED]; /**< in elements; the last runs fastest */
} mst_loops;

typedef struct mst_reduction {
    mst_loops kept, reduced; /**< all groups but the innermost */
    int64_t inner;           /**< elements of the innermost group */
    bool inner_reduced;
    int64_t count;   /**< elements that go into one output */
    int64_t outputs; /**< number of outputs */
} mst_reduction;

/** REDUCED says of each of the NDIM dimensions whether it goes. Defined in reduce_sum.c, as is what follows unless it
 *  says otherwise. */
mst_reduction mst_reduction_make(int ndim, const int64_t *dim, const bool *reduced);
/** Which of NDIM axes are in AXES (none: all), which are valid. */
void mst_reduce_mask(const mst_axes *axes, int ndim, bool *reduced);
/** The reduction of SRC over AXES (none: all), which are valid. */
mst_reduction mst_reduction_over(const mst_array *src, const mst_axes *axes);

/** Offset of the next element of nested loops; false after the last. INDEX starts as zeros, *OFFSET as 0. */
static inline bool mst_loops_next(const mst_loops *loops, int64_t *index, int64_t *offset) {
    for (int k = loops->num - 1; k >= 0; k--) {
        *offset += loops->stride[k];
        if (++index[k] < loops->dim[k]) return true;
        *offset -= loops->stride[k] * loops->dim[k];
        index[k] = 0;
    }
    return false;
}

/** All kept and all reduced groups of R, the innermost too. Defined in reduce_prod_others.c. */
void mst_reduction_groups(const mst_reduction *r, mst_loops *kept, mst_loops *reduced);

/** Checks AXES and gives dst[0] the shape and dtype of the reduced source 0. */
MST_CHECKED mst_status mst_reduce_infer(mst_infer *c, const mst_axes *axes, bool keep_dims);
/** VALUE, of the shape of output 0, with the reduced dimensions back as 1: it broadcasts to source 0. */
mst_value mst_reduce_restore(const mst_grad *c, mst_value value, const mst_axes *axes, bool keep_dims);
/** How many elements of source 0 go into one element of output 0, as a scalar of its dtype. Defined in reduce_mean.c.
 */
mst_value mst_reduce_count(const mst_grad *c, const mst_axes *axes);
/** Gradient of the largest and of the smallest: equal shares for all elements that are. Defined in reduce_max.c. */
mst_value mst_reduce_extreme_grad(const mst_grad *c, const mst_axes *axes, bool keep_dims);
/** Sum of the squares of all elements, f32 or f64. Defined in l2_loss.c. */
double mst_sum_squares(const mst_array *src);
/** Sums of all groups of elements of SRC into DST. */
void mst_reduce_sums(const mst_reduction *r, mst_dtype dtype, const void *src, void *dst);

/** Defines `static A name_row(const T *src, int64_t n)`, which folds contiguous elements T in accumulators A:
 *
 *      start            the accumulator of no elements
 *      A step(A, T)     takes one element in
 *      A combine(A, A)  joins two accumulators
 *
 *  by 32 interleaved accumulators that are joined in a tree. */
#define MST_FOLD_ROW(name, T, A, start, step, combine)                                 \
    MST_SIMD static A name##_row(const T *src, int64_t n) {                            \
        enum { LANES = 32 };                                                           \
        A lane[LANES];                                                                 \
        for (int k = 0; k < LANES; k++) lane[k] = (start);                             \
        int64_t i = 0;                                                                 \
        for (; i + LANES <= n; i += LANES)                                             \
            for (int k = 0; k < LANES; k++) lane[k] = step(lane[k], src[i + k]);       \
        for (int k = 0; i + k < n; k++) lane[k] = step(lane[k], src[i + k]);           \
        for (int half = LANES / 2; half; half /= 2)                                    \
            for (int k = 0; k < half; k++) lane[k] = combine(lane[k], lane[k + half]); \
        return lane[0];                                                                \
    }

/** Defines `static void name(const mst_reduction *r, const T *src, T *dst)`, which folds as MST_FOLD_ROW does and ends
 *  with `T finish(A, n)`, the output of n elements. Rows of at least 128 elements are folded by name_row, shorter ones
 *  by 4 interleaved accumulators, columns one element after the other. */
#define MST_REDUCE_LOOPS(name, T, A, start, step, combine, finish)                                                   \
    MST_FOLD_ROW(name, T, A, start, step, combine)                                                                   \
    MST_SIMD static void name##_columns(const T *restrict src, int64_t stride, int64_t rows, int64_t n,              \
                                        A *restrict acc) {                                                           \
        int64_t i = 0;                                                                                               \
        for (; i + 4 <= rows; i += 4, src += 4 * stride)                                                             \
            for (int64_t j = 0; j < n; j++) {                                                                        \
                A two = step(step(acc[j], src[j]), src[j + stride]);                                                 \
                acc[j] = step(step(two, src[j + 2 * stride]), src[j + 3 * stride]);                                  \
            }                                                                                                        \
        for (; i < rows; i++, src += stride)                                                                         \
            for (int64_t j = 0; j < n; j++) acc[j] = step(acc[j], src[j]);                                           \
    }                                                                                                                \
    static inline A name##_fold(const T *src, int64_t n) {                                                           \
        enum { FEW = 4, LONG = 128 };                                                                                \
        if (n >= LONG) return name##_row(src, n);                                                                    \
        A lane[FEW] = {(start), (start), (start), (start)};                                                          \
        int64_t i = 0;                                                                                               \
        for (; i + FEW <= n; i += FEW)                                                                               \
            for (int k = 0; k < FEW; k++) lane[k] = step(lane[k], src[i + k]);                                       \
        for (; i < n; i++) lane[0] = step(lane[0], src[i]);                                                          \
        return combine(combine(lane[0], lane[1]), combine(lane[2], lane[3]));                                        \
    }                                                                                                                \
    static void name##_to_value(const mst_reduction *r, const T *src, T *dst) {                                      \
        int64_t index[MST_MAX_REDUCED] = {0}, offset = 0;                                                            \
        A acc = name##_fold(src, r->inner);                                                                          \
        while (mst_loops_next(&r->reduced, index, &offset)) acc = combine(acc, name##_fold(src + offset, r->inner)); \
        *dst = finish(acc, r->count);                                                                                \
    }                                                                                                                \
    static void name##_to_values(const mst_reduction *r, const T *src, T *dst, int64_t n, int64_t stride) {          \
        for (int64_t i = 0; i < n; i++, src += stride, dst++) {                                                      \
            if (r->reduced.num)                                                                                      \
                name##_to_value(r, src, dst);                                                                        \
            else                                                                                                     \
                *dst = finish(name##_fold(src, r->inner), r->count);                                                 \
        }                                                                                                            \
    }                                                                                                                \
    static void name##_to_row(const mst_reduction *r, const T *src, T *dst) {                                        \
        enum { WIDTH = 1024 };                                                                                       \
        mst_loops outer = r->reduced; /* without the last, which the column loop takes */                            \
        const int last = outer.num - 1;                                                                              \
        const int64_t rows = last < 0 ? 1 : outer.dim[last], stride = last < 0 ? 0 : outer.stride[last];             \
        outer.num = last < 0 ? 0 : last;                                                                             \
        A acc[WIDTH];                                                                                                \
        for (int64_t j = 0; j < r->inner; j += WIDTH) {                                                              \
            const int64_t n = r->inner - j < WIDTH ? r->inner - j : WIDTH;                                           \
            int64_t index[MST_MAX_REDUCED] = {0}, offset = 0;                                                        \
            for (int64_t i = 0; i < n; i++) acc[i] = (start);                                                        \
            do {                                                                                                     \
                name##_columns(src + offset + j, stride, rows, n, acc);                                              \
            } while (mst_loops_next(&outer, index, &offset));                                                        \
            for (int64_t i = 0; i < n; i++) dst[j + i] = finish(acc[i], r->count);                                   \
        }                                                                                                            \
    }                                                                                                                \
    static void name(const mst_reduction *r, const T *src, T *dst) {                                                 \
        if (r->count == 0) /* of nothing */                                                                          \
            for (int64_t i = 0; i < r->outputs; i++) dst[i] = finish((A)(start), 0);                                 \
        if (r->count == 0 || r->outputs == 0) return;                                                                \
        mst_loops kept = r->kept; /* without the last, which is a plain loop */                                      \
        const int last = kept.num - 1;                                                                               \
        const int64_t n = last < 0 ? 1 : kept.dim[last], stride = last < 0 ? 0 : kept.stride[last];                  \
        kept.num = last < 0 ? 0 : last;                                                                              \
        int64_t index[MST_MAX_REDUCED] = {0}, offset = 0;                                                            \
        do {                                                                                                         \
            if (r->inner_reduced)                                                                                    \
                name##_to_values(r, src + offset, dst, n, stride);                                                   \
            else                                                                                                     \
                for (int64_t i = 0; i < n; i++) name##_to_row(r, src + offset + i * stride, dst + i * r->inner);     \
            dst += n * (r->inner_reduced ? 1 : r->inner);                                                            \
        } while (mst_loops_next(&kept, index, &offset));                                                             \
    }

/* Steps of sums: floats are summed in f64, integers as 64 bits that wrap around. */
static inline double mst_join(double a, double b) {
    return a + b;
}

static inline uint64_t mst_join_bits(uint64_t a, uint64_t b) {
    return a + b;
}

static inline double mst_add_f32(double a, float x) {
    return a + (double)x;
}

static inline double mst_add_square_f32(double a, float x) {
    return a + (double)x * (double)x;
}

static inline double mst_add_square_f64(double a, double x) {
    return a + x * x;
}

static inline uint64_t mst_add_i32(uint64_t a, int32_t x) {
    return a + (uint64_t)(int64_t)x;
}

static inline uint64_t mst_add_i64(uint64_t a, int64_t x) {
    return a + (uint64_t)x;
}

static inline uint64_t mst_add_u8(uint64_t a, uint8_t x) {
    return a + x;
}

#endif
