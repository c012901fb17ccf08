/* The search for the best element along an axis is divided into segments. The best elements of the segments are then
 * compared in the order of the segments, and of equal ones the first is taken. So the result does not depend on the
 * division. */
#include "op/reduce/arg_search.h"

#include <math.h>

#include "muster/hlo.h"
#include "muster/ops.h"
#include "op/share.h"

enum {
    SEGMENT = 16384, /* elements that are searched at a time */
    COLUMNS = 16     /* neighbouring outputs in a block, the unit of work of a thread */
};

const mst_field mst_arg_search_fields[] = {
    MST_FIELD_I32(mst_arg_search_options, axis, 0, 0, 0, "dimension to search"),
    MST_FIELD_DTYPE(mst_arg_search_options, dtype, MST_I64, "of the result"),
    MST_FIELD_END,
};

mst_status mst_arg_search_infer(mst_infer *c) {
    const mst_arg_search_options *o = c->options;
    const mst_dtype dtype = o->dtype;
    const mst_shape *src = &c->src[0].shape;
    int at;
    MST_TRY(mst_infer_want_listed(c, 0));
    MST_TRY(mst_infer_axis(c, o->axis, src->ndim, &at));
    if (dtype != MST_I32 && dtype != MST_I64)
        return mst_infer_fail(c, "dtype is %s, must be i32 or i64", mst_dtype_name(dtype));
    if (src->dim[at] == 0) return mst_infer_fail(c, "dimension %d is 0: there is nothing to choose from", at);
    if (src->dim[at] > INT32_MAX && dtype == MST_I32)
        return mst_infer_fail(c, "dimension %d is too large for i32, use i64", at);
    c->dst[0] = (mst_spec){.dtype = dtype};
    for (int k = 0; k < src->ndim; k++)
        if (k != at) c->dst[0].shape.dim[c->dst[0].shape.ndim++] = src->dim[k];
    return MST_OK;
}

mst_arg_search_sizes mst_arg_search_sizes_of(const mst_shape *shape, int axis) {
    if (axis < 0) axis += shape->ndim;
    mst_arg_search_sizes s = {.outer = 1, .size = shape->dim[axis], .inner = 1};
    for (int k = 0; k < axis; k++) s.outer *= shape->dim[k];
    for (int k = axis + 1; k < shape->ndim; k++) s.inner *= shape->dim[k];
    return s;
}

/* The number of rows in one segment. */
static int64_t segment_length(const mst_arg_search_sizes *s) {
    const int64_t width = s->inner < MST_ARG_SEARCH_WIDTH ? s->inner : MST_ARG_SEARCH_WIDTH,
                  length = SEGMENT / (width ? width : 1);
    return s->size > 2 * length ? length : s->size;
}

static int64_t count_segments(const mst_arg_search_sizes *s) {
    const int64_t length = segment_length(s);
    return (s->size + length - 1) / length;
}

size_t mst_arg_search_workspace(const mst_infer *c, int num_threads) {
    (void)num_threads;
    const mst_arg_search_options *o = c->options;
    const mst_arg_search_sizes s = mst_arg_search_sizes_of(&c->src[0].shape, o->axis);
    const int64_t segments = count_segments(&s);
    return segments > 1 ? (size_t)(segments * s.outer * s.inner) * sizeof(int64_t) : 0;
}

typedef struct arg_search_work {
    const mst_kernel_args *args;
    const mst_arg_searcher *searcher;
    mst_arg_search_sizes size;
    int64_t segments, length, blocks; /* number of segments; rows of a segment; number of blocks of COLUMNS outputs */
    size_t element;                   /* bytes of an element */
} arg_search_work;

static void store(const mst_array *dst, int64_t first, int64_t n, const int64_t *at) {
    if (dst->dtype == MST_I32)
        for (int64_t i = 0; i < n; i++) ((int32_t *)dst->data)[first + i] = (int32_t)at[i];
    else
        for (int64_t i = 0; i < n; i++) ((int64_t *)dst->data)[first + i] = at[i];
}

static const char *column_at(const arg_search_work *w, int64_t outer, int64_t column) {
    const int64_t at = outer * w->size.size * w->size.inner + column;
    return (const char *)w->args->src[0].data + (size_t)at * w->element;
}

/* The address of the place that was found in SEGMENT for OUTPUT. The workspace has them as [segments, outputs]. */
static int64_t *place_at(const arg_search_work *w, int64_t segment, int64_t output) {
    return (int64_t *)w->args->workspace + segment * w->args->dst[0].count + output;
}

/* Searches rows BEGIN to END - 1. */
static mst_status search_rows(void *context, int64_t begin, int64_t end, int thread) {
    const arg_search_work *w = context;
    (void)thread;
    for (int64_t i = begin; i < end; i += MST_ARG_SEARCH_WIDTH) {
        int64_t at[MST_ARG_SEARCH_WIDTH];
        const int64_t n = end - i < MST_ARG_SEARCH_WIDTH ? end - i : MST_ARG_SEARCH_WIDTH;
        w->searcher->in_rows(w->args->src[0].data, w->size.size, i, i + n, at);
        store(&w->args->dst[0], i, n, at);
    }
    return MST_OK;
}

/* Searches items BEGIN to END - 1; neighbouring blocks together, if they fit in AT. Item i is block i % blocks of
 * segment i / blocks % segments of outer index i / blocks / segments. */
static mst_status search_blocks(void *context, int64_t begin, int64_t end, int thread) {
    const arg_search_work *w = context;
    const mst_arg_search_sizes *s = &w->size;
    (void)thread;
    for (int64_t i = begin; i < end;) {
        int64_t at[MST_ARG_SEARCH_WIDTH];
        const int64_t block = i % w->blocks, segment = i / w->blocks % w->segments, outer = i / w->blocks / w->segments;
        const int64_t column = block * COLUMNS, rest = s->inner - column, most = (end - i) * COLUMNS;
        const int64_t wide = rest < most ? rest : most, n = wide < MST_ARG_SEARCH_WIDTH ? wide : MST_ARG_SEARCH_WIDTH;
        const int64_t from = segment * w->length, to = s->size - from < w->length ? s->size : from + w->length;
        const int64_t output = outer * s->inner + column;
        w->searcher->in_columns(column_at(w, outer, column), s->inner, n, from, to,
                                w->segments > 1 ? place_at(w, segment, output) : at);
        if (w->segments == 1) store(&w->args->dst[0], output, n, at);
        i += (n + COLUMNS - 1) / COLUMNS;
    }
    return MST_OK;
}

mst_status mst_arg_search(const mst_kernel_args *a, const mst_arg_searcher *searcher) {
    const mst_arg_search_options *o = a->options;
    arg_search_work w = {.args = a,
                         .searcher = searcher,
                         .size = mst_arg_search_sizes_of(&a->src[0].shape, o->axis),
                         .element = mst_dtype_size(a->src[0].dtype)};
    const mst_arg_search_sizes *s = &w.size;
    if (a->dst[0].count == 0) return MST_OK;
    w.segments = count_segments(s);
    w.length = segment_length(s);
    if (s->inner == 1 && w.segments == 1)
        return mst_parallel(a, s->outer, mst_grain(s->outer, 4 * s->size), search_rows, &w);
    w.blocks = (s->inner + COLUMNS - 1) / COLUMNS;
    const int64_t width = s->inner < COLUMNS ? s->inner : COLUMNS;
    const int64_t items = s->outer * w.segments * w.blocks;
    MST_TRY(mst_parallel(a, items, mst_grain(items, 4 * w.length * width), search_blocks, &w));
    for (int64_t outer = 0; outer < s->outer && w.segments > 1; outer++) {
        int64_t *at = place_at(&w, 0, outer * s->inner);
        for (int64_t k = 1; k < w.segments; k++)
            searcher->join(column_at(&w, outer, 0), s->inner, s->inner, place_at(&w, k, outer * s->inner), at);
        store(&a->dst[0], outer * s->inner, s->inner, at);
    }
    return MST_OK;
}

/* Finds the best element first, and then its first place. NaN counts as the worst. */
void mst_arg_search_lower(mst_lower *l, bool largest) {
    const mst_spec src = l->src_spec[0], dst = l->dst_spec[0];
    const int given = ((const mst_arg_search_options *)l->options)->axis;
    const mst_axes axis = MST_AXES(given < 0 ? given + src.shape.ndim : given);
    const double worst = largest ? -INFINITY : INFINITY;
    const mst_dtype dtype = src.shape.dim[axis.axis[0]] <= INT32_MAX ? MST_I32 : MST_I64;
    mst_hlo x = l->src[0];
    if (mst_dtype_is_float(src.dtype))
        x = mst_hlo_select(l, mst_hlo_compare(l, "NE", x, x), mst_hlo_number(l, src.dtype, worst), x);
    const mst_hlo best = mst_hlo_reduce_keep(l, largest ? "maximum" : "minimum", x, worst, axis);
    const mst_hlo place = mst_hlo_iota(l, dtype, src.shape, axis.axis[0]);
    const mst_hlo none = mst_hlo_number(l, dtype, INFINITY);
    const mst_hlo of_best = mst_hlo_select(l, mst_hlo_compare(l, "EQ", x, best), place, none);
    l->dst[0] = mst_hlo_convert(l, mst_hlo_reduce(l, "minimum", of_best, INFINITY, axis), dst.dtype);
}
