/* The loops of a reduction over elements T, for accumulators A; included once for each type. They define
 * `static const mst_reducer MST_NAME(reducer)`, which begins with START and takes elements in with STEP(a, x), joins
 * accumulators with COMBINE(a, b), and ends with FINISH(a, n), the output of n elements.
 *
 * Rows of at least LONG elements are folded by interleaved accumulators, shorter ones by 4, columns one element after
 * the other. */

#include "op/reduce/fold.h"

/* The same for rows, of which the short ones take fewer accumulators. */
static inline A MST_NAME(fold_row)(const T *src, int64_t n) {
    enum { FEW = 4, LONG = 128 };
    if (n >= LONG) return MST_NAME(fold)(src, n);
    A lane[FEW] = {START, START, START, START};
    int64_t i = 0;
    for (; i + FEW <= n; i += FEW)
        for (int k = 0; k < FEW; k++) lane[k] = MST_NAME(step)(lane[k], src[i + k]);
    for (; i < n; i++) lane[0] = MST_NAME(step)(lane[0], src[i]);
    return MST_NAME(combine)(MST_NAME(combine)(lane[0], lane[1]), MST_NAME(combine)(lane[2], lane[3]));
}

/* Folds ROWS rows of N elements into N accumulators. */
MST_SIMD static void MST_NAME(fold_columns)(const T *restrict src, int64_t stride, int64_t rows, int64_t n,
                                            A *restrict acc) {
    int64_t i = 0;
    for (; i + 4 <= rows; i += 4, src += 4 * stride)
        for (int64_t j = 0; j < n; j++) {
            const A two = MST_NAME(step)(MST_NAME(step)(acc[j], src[j]), src[j + stride]);
            acc[j] = MST_NAME(step)(MST_NAME(step)(two, src[j + 2 * stride]), src[j + 3 * stride]);
        }
    for (; i < rows; i++, src += stride)
        for (int64_t j = 0; j < n; j++) acc[j] = MST_NAME(step)(acc[j], src[j]);
}

/* Folds elements BEGIN to END - 1 (at least one) of one output, row by row. */
static A MST_NAME(fold_rows)(const mst_reduction *r, const T *src, int64_t begin, int64_t end) {
    int64_t index[MST_MAX_REDUCED], offset, first = begin % r->inner;
    mst_loops_seek(&r->reduced, begin / r->inner, index, &offset);
    int64_t n = r->inner - first < end - begin ? r->inner - first : end - begin;
    A acc = MST_NAME(fold_row)(src + offset + first, n);
    while ((begin += n) < end) {
        mst_loops_next(&r->reduced, index, &offset);
        n = r->inner < end - begin ? r->inner : end - begin;
        acc = MST_NAME(combine)(acc, MST_NAME(fold_row)(src + offset, n));
    }
    return acc;
}

static void MST_NAME(to_accumulator)(const mst_reduction *r, const void *src, int64_t begin, int64_t end,
                                     void *accumulator) {
    *(A *)accumulator = MST_NAME(fold_rows)(r, src, begin, end);
}

static void MST_NAME(to_values)(const mst_reduction *r, const void *src, int64_t begin, int64_t end, void *dst) {
    int64_t n, stride, index[MST_MAX_REDUCED], offset;
    const mst_loops kept = mst_loops_without_last(r->kept, &n, &stride); /* the last is a plain loop */
    mst_loops_seek(&kept, begin / n, index, &offset);
    for (int64_t i = begin % n; begin < end; i = 0) {
        const T *row = (const T *)src + offset + i * stride;
        for (; i < n && begin < end; i++, begin++, row += stride) {
            const A acc = r->reduced.num ? MST_NAME(fold_rows)(r, row, 0, r->count) : MST_NAME(fold_row)(row, r->inner);
            ((T *)dst)[begin] = FINISH(acc, r->count);
        }
        mst_loops_next(&kept, index, &offset);
    }
}

static void MST_NAME(to_accumulators)(const mst_reduction *r, const void *src, int64_t begin, int64_t end, int64_t n,
                                      void *accumulator) {
    A *acc = accumulator;
    for (int64_t j = 0; j < n; j++) acc[j] = START;
    if (r->reduced.num == 1) {
        const int64_t stride = r->reduced.stride[0];
        MST_NAME(fold_columns)((const T *)src + begin * stride, stride, end - begin, n, acc);
        return;
    }
    int64_t rows, stride, index[MST_MAX_REDUCED], offset;
    const mst_loops outer = mst_loops_without_last(r->reduced, &rows, &stride);
    mst_loops_seek(&outer, begin / rows, index, &offset);
    for (int64_t i = begin % rows; begin < end; i = 0) {
        const int64_t now = rows - i < end - begin ? rows - i : end - begin;
        MST_NAME(fold_columns)((const T *)src + offset + i * stride, stride, now, n, acc);
        begin += now;
        mst_loops_next(&outer, index, &offset);
    }
}

static void MST_NAME(finish)(const mst_reduction *r, const void *accumulator, int64_t segments, int64_t stride,
                             int64_t n, void *dst) {
    enum { WIDTH = 256 };
    (void)r; /* most FINISH do not need the count */
    for (int64_t i = 0; i < n; i += WIDTH) {
        const int64_t now = n - i < WIDTH ? n - i : WIDTH;
        A acc[WIDTH];
        for (int64_t j = 0; j < now; j++) acc[j] = segments ? ((const A *)accumulator)[i + j] : START;
        for (int64_t s = 1; s < segments; s++)
            for (int64_t j = 0; j < now; j++)
                acc[j] = MST_NAME(combine)(acc[j], ((const A *)accumulator)[s * stride + i + j]);
        for (int64_t j = 0; j < now; j++) ((T *)dst)[i + j] = FINISH(acc[j], r->count);
    }
}

static const mst_reducer MST_NAME(reducer) = {
    .accumulator = sizeof(A),
    .to_values = MST_NAME(to_values),
    .to_accumulator = MST_NAME(to_accumulator),
    .to_accumulators = MST_NAME(to_accumulators),
    .finish = MST_NAME(finish),
};
