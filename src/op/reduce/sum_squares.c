#include "op/reduce/sum_squares.h"

#include "base/simd.h"
#include "op/share.h"

enum { SEGMENT = 8192 }; /* elements of a source whose squares are summed at a time */

#define A double
#define START 0
#define STEP(a, x) ((a) + (double)(x) * (double)(x))
#define COMBINE(a, b) ((a) + (b))
#define MST_TEMPLATE "op/reduce/fold.inc"
#include "base/floats.inc"

static int64_t segments_of(int64_t count) {
    return (count + SEGMENT - 1) / SEGMENT;
}

size_t mst_sum_squares_workspace(const mst_infer *c, int num_threads) {
    int64_t segments = 0;
    (void)num_threads;
    for (int i = 0; i < c->num_src; i++) segments += segments_of(mst_shape_count(c->src[i].shape));
    return (size_t)segments * sizeof(double);
}

/* Sums the squares of segments BEGIN to END - 1. Segments are numbered over all sources. */
static mst_status sum_segments(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_array *src = a->src;
    double *sum = a->workspace;
    int64_t first = 0; /* number of the first segment of the current source */
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        while (i >= first + segments_of(src->count)) first += segments_of(src++->count);
        const int64_t at = (i - first) * SEGMENT, n = src->count - at < SEGMENT ? src->count - at : SEGMENT;
        sum[i] = src->dtype == MST_F32 ? fold_f32((const float *)src->data + at, n)
                                       : fold_f64((const double *)src->data + at, n);
    }
    return MST_OK;
}

mst_status mst_sum_squares(const mst_kernel_args *a, double *sum) {
    const double *part = a->workspace;
    int64_t segments = 0;
    for (int i = 0; i < a->num_src; i++) segments += segments_of(a->src[i].count);
    MST_TRY(mst_parallel(a, segments, 1, sum_segments, mst_context_of(a)));
    *sum = 0;
    for (int i = 0; i < a->num_src; i++) {
        double of_source = 0;
        for (int64_t k = segments_of(a->src[i].count); k > 0; k--) of_source += *part++;
        *sum += of_source;
    }
    return MST_OK;
}
