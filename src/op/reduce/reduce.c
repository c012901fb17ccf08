/* Cuts reductions into items of work, and shares these among threads. The loops over elements are functions of
 * mst_reducer (reduce_loops.inc). There are three ways to cut:
 *
 *      rows       the innermost group is reduced, few elements go into an output: an item is a run of outputs
 *      segments   the innermost group is reduced, many elements go into an output: an item is one segment of one output
 *      blocks     the innermost group is kept: an item is one segment of a block of neighbouring outputs
 *
 * If there are several segments, their accumulators are in the workspace, and a second pass combines them in the order
 * of the segments. The number of segments depends only on the shape and the dtype, so the bits do not depend on the
 * number of threads. */
#include "op/reduce/reduce.h"

#include "muster/ops.h"
#include "op/share.h"

enum {
    SEGMENT = 8192, /* elements of one output, or of a few neighbouring outputs, that are folded at a time */
    BYTES = 8,      /* factor on SEGMENT if elements have one byte */
    ROWS = 1024,    /* a segment has at least so many elements of each of its outputs */
    COLUMNS = 64,   /* neighbouring outputs in a block, the unit of work of a thread */
    WIDTH = 1024    /* outputs that are accumulated at a time */
};

/* ---- shapes ---- */

void mst_reduce_mask(const mst_axes *axes, int ndim, bool *reduced) {
    for (int k = 0; k < ndim; k++) reduced[k] = axes->count == 0;
    for (int k = 0; k < axes->count; k++) reduced[axes->axis[k] < 0 ? axes->axis[k] + ndim : axes->axis[k]] = true;
}

mst_reduce_loops mst_reduce_loops_make(int ndim, const int64_t *dim, const bool *reduced) {
    mst_reduce_loops r = {.inner = 1, .inner_reduced = true, .count = 1, .outputs = 1};
    int num = 0;
    int64_t group[MST_MAX_REDUCED], stride[MST_MAX_REDUCED];
    bool goes[MST_MAX_REDUCED]; /* whether the group is reduced */
    for (int k = 0; k < ndim; k++) {
        *(reduced[k] ? &r.count : &r.outputs) *= dim[k];
        if (dim[k] == 1) continue;
        if (num && goes[num - 1] == reduced[k]) {
            group[num - 1] *= dim[k];
            continue;
        }
        group[num] = dim[k];
        goes[num++] = reduced[k];
    }
    if (!num) return r;
    int64_t step = 1;
    for (int k = num - 1; k >= 0; k--) {
        stride[k] = step;
        step *= group[k];
    }
    r.inner = group[num - 1];
    r.inner_reduced = goes[num - 1];
    for (int k = 0; k < num - 1; k++) {
        mst_loops *loops = goes[k] ? &r.reduced : &r.kept;
        loops->dim[loops->num] = group[k];
        loops->stride[loops->num++] = stride[k];
    }
    return r;
}

mst_reduce_loops mst_reduce_loops_over(mst_shape shape, const mst_axes *axes) {
    bool reduced[MST_MAX_NDIM];
    mst_reduce_mask(axes, shape.ndim, reduced);
    return mst_reduce_loops_make(shape.ndim, shape.dim, reduced);
}

void mst_reduce_loops_groups(const mst_reduce_loops *r, mst_loops *kept, mst_loops *reduced) {
    *kept = r->kept;
    *reduced = r->reduced;
    mst_loops *inner = r->inner_reduced ? reduced : kept;
    inner->dim[inner->num] = r->inner;
    inner->stride[inner->num++] = 1;
}

/* ---- segments ---- */

/* The number of segments into which the elements of one output are cut. Sets *LENGTH to the elements of a segment; the
 * last may have fewer. Both depend only on the shape and the dtype. */
static int64_t count_segments(const mst_reduce_loops *r, size_t element, int64_t *length) {
    const int64_t segment = element == 1 ? BYTES * SEGMENT : SEGMENT;
    int64_t most = r->inner_reduced ? segment : segment / r->inner;
    if (most < ROWS) most = ROWS;
    const int64_t segments = (r->count + most - 1) / most;
    *length = segments > 1 ? (r->count + segments - 1) / segments : r->count;
    return segments > 1 ? (r->count + *length - 1) / *length : 1;
}

size_t mst_reduce_loops_workspace(const mst_reduce_loops *r, mst_dtype dtype) {
    int64_t length;
    if (r->count == 0 || r->outputs == 0) return 0;
    const int64_t segments = count_segments(r, mst_dtype_size(dtype), &length);
    return segments > 1 ? (size_t)segments * (size_t)r->outputs * MST_MOST_ACCUMULATOR : 0;
}

/* ---- the work ---- */

typedef struct reduce_work {
    const mst_kernel_args *args;
    const mst_reduce_loops *reduction;
    const mst_reducer *reducer;
    size_t element;           /* bytes of an element */
    int64_t segments, length; /* segments of one output, and elements of a segment */
    int64_t blocks;           /* blocks of COLUMNS neighbouring outputs */
} reduce_work;

/* The address of the accumulator of SEGMENT for OUTPUT. The workspace has them as [segments, outputs]. */
static char *accumulator_at(const reduce_work *w, int64_t segment, int64_t output) {
    const int64_t at = segment * w->reduction->outputs + output;
    return (char *)w->args->workspace + (size_t)at * w->reducer->accumulator;
}

static const char *source_at(const reduce_work *w, int64_t offset) {
    return (const char *)w->args->src[0].data + (size_t)offset * w->element;
}

static char *output_at(const reduce_work *w, int64_t output) {
    return (char *)w->args->dst[0].data + (size_t)output * w->element;
}

/* Computes outputs BEGIN to END - 1, each from whole rows of the source. */
static mst_status run_rows(void *context, int64_t begin, int64_t end, int thread) {
    const reduce_work *w = context;
    (void)thread;
    w->reducer->to_values(w->reduction, w->args->src[0].data, begin, end, w->args->dst[0].data);
    return MST_OK;
}

/* Folds segments. Item i is segment i % segments of output i / segments. */
static mst_status run_segments(void *context, int64_t begin, int64_t end, int thread) {
    const reduce_work *w = context;
    const mst_reduce_loops *r = w->reduction;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        const int64_t output = i / w->segments, segment = i % w->segments;
        const int64_t from = segment * w->length, rest = r->count - from;
        int64_t index[MST_MAX_REDUCED], offset;
        mst_loops_seek(&r->kept, output, index, &offset);
        w->reducer->to_accumulator(r, source_at(w, offset), from, from + (rest < w->length ? rest : w->length),
                                   accumulator_at(w, segment, output));
    }
    return MST_OK;
}

/* Folds one segment of outputs COLUMN to COLUMN + N - 1 of the kept index KEPT. The elements of this index begin at
 * OFFSET. */
static void run_columns(const reduce_work *w, int64_t kept, int64_t offset, int64_t segment, int64_t column,
                        int64_t n) {
    _Alignas(64) char accumulator[WIDTH * MST_MOST_ACCUMULATOR];
    const mst_reduce_loops *r = w->reduction;
    const int64_t from = segment * w->length, rest = r->count - from, to = from + (rest < w->length ? rest : w->length);
    for (int64_t j = column; j < column + n; j += WIDTH) {
        const int64_t now = column + n - j < WIDTH ? column + n - j : WIDTH, output = kept * r->inner + j;
        void *at = w->segments > 1 ? (void *)accumulator_at(w, segment, output) : accumulator;
        w->reducer->to_accumulators(r, source_at(w, offset + j), from, to, now, at);
        if (w->segments == 1) w->reducer->finish(r, at, 1, 0, now, output_at(w, output));
    }
}

/* Folds blocks of columns. Item i is block i % blocks of segment i / blocks % segments of kept index
 * i / blocks / segments. */
static mst_status run_blocks(void *context, int64_t begin, int64_t end, int thread) {
    const reduce_work *w = context;
    const mst_reduce_loops *r = w->reduction;
    int64_t block = begin % w->blocks, row = begin / w->blocks, segment = row % w->segments, kept = row / w->segments;
    int64_t index[MST_MAX_REDUCED], offset;
    (void)thread;
    mst_loops_seek(&r->kept, kept, index, &offset);
    while (begin < end) {
        const int64_t left = w->blocks - block, now = left < end - begin ? left : end - begin;
        const int64_t column = block * COLUMNS, rest = r->inner - column, n = now * COLUMNS;
        run_columns(w, kept, offset, segment, column, rest < n ? rest : n);
        begin += now;
        block = 0;
        if (++segment < w->segments) continue;
        segment = 0;
        kept++;
        mst_loops_next(&r->kept, index, &offset);
    }
    return MST_OK;
}

/* Computes outputs BEGIN to END - 1 from the accumulators of all segments. */
static mst_status finish(void *context, int64_t begin, int64_t end, int thread) {
    const reduce_work *w = context;
    (void)thread;
    w->reducer->finish(w->reduction, accumulator_at(w, 0, begin), w->segments, w->reduction->outputs, end - begin,
                       output_at(w, begin));
    return MST_OK;
}

mst_status mst_reduce(const mst_kernel_args *a, const mst_reduce_loops *r, const mst_reducer *reducer) {
    reduce_work w = {.args = a, .reduction = r, .reducer = reducer, .element = mst_dtype_size(a->src[0].dtype)};
    if (r->count == 0 || r->outputs == 0) { /* no elements, or no outputs */
        if (r->outputs) reducer->finish(r, NULL, 0, 0, r->outputs, a->dst[0].data);
        return MST_OK;
    }
    w.segments = count_segments(r, w.element, &w.length);
    if (r->inner_reduced && w.segments == 1)
        return mst_parallel(a, r->outputs, mst_grain(r->outputs, r->count), run_rows, &w);
    if (r->inner_reduced) {
        const int64_t items = r->outputs * w.segments;
        MST_TRY(mst_parallel(a, items, mst_grain(items, w.length), run_segments, &w));
    } else {
        w.blocks = (r->inner + COLUMNS - 1) / COLUMNS;
        const int64_t width = r->inner < COLUMNS ? r->inner : COLUMNS, rows = r->outputs / r->inner * w.segments;
        int64_t grain = mst_grain(rows * w.blocks, w.length * width);
        if (rows >= 2 * a->num_threads) grain = mst_grain_aligned(grain, w.blocks); /* whole rows, to read in order */
        MST_TRY(mst_parallel(a, rows * w.blocks, grain, run_blocks, &w));
    }
    return w.segments > 1 ? mst_parallel(a, r->outputs, mst_grain(r->outputs, w.segments), finish, &w) : MST_OK;
}

/* ---- sums ---- */

#define A WIDE
#define START 0
#define STEP(a, x) ((a) + (A)(x))
#define COMBINE(a, b) ((a) + (b))
#define FINISH(a, n) ((T)(a))
#define MST_TEMPLATE "op/reduce/reduce_loops.inc"
#include "op/numbers.inc"

mst_status mst_reduce_sums(const mst_kernel_args *a, const mst_reduce_loops *r) {
    static const mst_reducer *const reducer[MST_NUM_DTYPES] = {MST_BY_NUMBER(reducer)};
    return mst_reduce(a, r, reducer[a->src[0].dtype]);
}

/* ---- ops with mst_reduce_options ---- */

const mst_field mst_reduce_fields[] = {
    MST_FIELD_AXES(mst_reduce_options, axes, "axes to reduce; none: all"),
    MST_FIELD_BOOL(mst_reduce_options, keep_dims, "the axes stay, as dimensions of 1"),
    MST_FIELD_END,
};

mst_status mst_reduce_infer(mst_infer *c) {
    const mst_reduce_options *o = c->options;
    return mst_reduce_infer_axes(c, &o->axes, o->keep_dims);
}

size_t mst_reduce_workspace(const mst_infer *c, int num_threads) {
    (void)num_threads;
    const mst_reduce_loops r = mst_reduce_loops_over(c->src[0].shape, &((const mst_reduce_options *)c->options)->axes);
    return mst_reduce_loops_workspace(&r, c->src[0].dtype);
}

mst_status mst_reduce_over_axes(const mst_kernel_args *a, const mst_reducer *reducer) {
    const mst_reduce_loops r = mst_reduce_loops_over(a->src[0].shape, &((const mst_reduce_options *)a->options)->axes);
    return mst_reduce(a, &r, reducer);
}

/* ---- inference and gradients ---- */

mst_status mst_reduce_infer_axes(mst_infer *c, const mst_axes *axes, bool keep_dims) {
    MST_TRY(mst_infer_want_listed(c, 0));
    const mst_shape *src = &c->src[0].shape;
    bool reduced[MST_MAX_NDIM] = {false};
    if (axes->count > src->ndim)
        return mst_infer_fail(c, "%d axes for a source of %d dimensions", axes->count, src->ndim);
    for (int k = 0; k < axes->count; k++) {
        int axis;
        MST_TRY(mst_infer_axis(c, axes->axis[k], src->ndim, &axis));
        if (reduced[axis]) return mst_infer_fail(c, "axis %d is given twice", axis);
        reduced[axis] = true;
    }
    mst_reduce_mask(axes, src->ndim, reduced);
    mst_shape *dst = &c->dst[0].shape;
    *dst = (mst_shape){0};
    c->dst[0].dtype = c->src[0].dtype;
    for (int k = 0; k < src->ndim; k++) {
        if (!reduced[k])
            dst->dim[dst->ndim++] = src->dim[k];
        else if (keep_dims)
            dst->dim[dst->ndim++] = 1;
    }
    return MST_OK;
}

mst_value mst_reduce_restore_dims(const mst_grad *c, mst_value value) {
    const mst_reduce_options *o = c->options;
    int ndim = mst_value_spec(c->src[0]).shape.ndim;
    bool reduced[MST_MAX_NDIM];
    mst_reduce_mask(&o->axes, ndim, reduced);
    bool is_scalar = !o->keep_dims && mst_value_spec(c->dst[0]).shape.ndim == 0; /* broadcasts anyway */
    for (int k = 0; k < ndim && !o->keep_dims && !is_scalar; k++)
        if (reduced[k]) value = mst_expand_dims(value, k);
    return value;
}

/* The count is computed in f64 and rounded once. So it does not depend on which dimensions are known while the graph is
 * built. */
mst_value mst_reduce_count(const mst_grad *c) {
    mst_spec src = mst_value_spec(c->src[0]);
    bool reduced[MST_MAX_NDIM];
    mst_reduce_mask(&((const mst_reduce_options *)c->options)->axes, src.shape.ndim, reduced);
    double known = 1;
    for (int k = 0; k < src.shape.ndim; k++)
        if (reduced[k] && src.shape.dim[k] >= 0) known *= (double)src.shape.dim[k];
    mst_value count = mst_scalar(c->graph, MST_F64, known);
    for (int k = 0; k < src.shape.ndim; k++)
        if (reduced[k] && src.shape.dim[k] < 0) count = mst_mul(count, mst_dim_size(c->src[0], k, MST_F64));
    return src.dtype == MST_F64 ? count : mst_cast(count, src.dtype);
}

mst_value mst_reduce_extreme_grad(mst_grad *c, int i) {
    (void)i;
    const mst_reduce_options *o = c->options;
    mst_value best = mst_reduce_restore_dims(c, c->dst[0]);
    mst_value is_best = mst_cast(mst_equal(c->src[0], best), mst_value_spec(c->src[0]).dtype);
    mst_value share = mst_div(c->ddst[0], mst_reduce_sum(.src = is_best, .axes = o->axes, .keep_dims = o->keep_dims));
    return mst_mul(is_best, mst_reduce_restore_dims(c, share));
}
