/** gather: dst[.., i, ..] = params[.., indices[i], ..]; the indices go into dimension axis
 *
 *  params   any dtype, at least one dimension
 *  indices  i32 or i64, any shape; from 0 to params' dimension axis - 1
 *  dst      params' dtype; params' shape with dimension axis replaced by the shape of indices
 *  axis     negative ones count from the end
 *  fails    MST_INVALID in the run if an index is negative or too large
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_gather(mst_value params, mst_value indices, int axis);
#endif
#include <string.h>

#include "graph/spec.h"
#include "op/index/gather.h"
#include "op/index/index_hlo.h"
#include "op/op.h"
#include "op/shape/strided.h"
#include "op/share.h"

const mst_field mst_gather_fields[] = {
    MST_FIELD_I32(mst_gather_options, axis, 0, 0, 0, "dimension of params that is indexed"),
    MST_FIELD_END,
};

mst_status mst_gather_infer(mst_infer *c, const mst_shape *params, int indices, mst_shape *out) {
    const mst_shape *index = &c->src[indices].shape;
    int axis;
    MST_TRY(mst_infer_want_index(c, indices));
    MST_TRY(mst_infer_axis(c, ((const mst_gather_options *)c->options)->axis, params->ndim, &axis));
    if (params->ndim - 1 + index->ndim > MST_MAX_NDIM)
        return mst_infer_fail(c, "%d dimensions, at most %d are possible", params->ndim - 1 + index->ndim,
                              MST_MAX_NDIM);
    *out = (mst_shape){0};
    for (int k = 0; k < axis; k++) out->dim[out->ndim++] = params->dim[k];
    for (int k = 0; k < index->ndim; k++) out->dim[out->ndim++] = index->dim[k];
    for (int k = axis + 1; k < params->ndim; k++) out->dim[out->ndim++] = params->dim[k];
    return MST_OK;
}

mst_gather_sizes mst_gather_loops(const mst_kernel_args *a, const mst_array *params) {
    int axis = ((const mst_gather_options *)a->options)->axis;
    if (axis < 0) axis += params->shape.ndim;
    mst_gather_sizes s = {.outer = 1, .size = params->shape.dim[axis], .inner = 1};
    for (int k = 0; k < axis; k++) s.outer *= params->shape.dim[k];
    for (int k = axis + 1; k < params->shape.ndim; k++) s.inner *= params->shape.dim[k];
    return s;
}

/* The message explains INT32_MIN: Embedding converts NaN to this number, and cast converts -inf to it. */
mst_status mst_gather_check(const mst_kernel_args *a, const mst_array *indices, int64_t size, int64_t begin,
                            int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const int64_t index = mst_gather_index(indices, i);
        if (index < 0 || index >= size)
            return mst_kernel_fail(a, MST_INVALID,
                                   "index %lld (element %lld of the indices%s) is out of range: 0 to %lld",
                                   (long long)index, (long long)i, index == INT32_MIN ? ", NaN or -inf as a float" : "",
                                   (long long)size - 1);
    }
    return MST_OK;
}

static mst_status gather_infer(mst_infer *c) {
    c->dst[0].dtype = c->src[0].dtype;
    return mst_gather_infer(c, &c->src[0].shape, 1, &c->dst[0].shape);
}

static mst_value gather_grad(mst_grad *c, int i) {
    if (i > 0) return MST_NONE;
    return mst_gather_grad(c->ddst[0], c->src[1], c->src[0], ((const mst_gather_options *)c->options)->axis);
}

static mst_hlo checked_indices(mst_lower *l, int64_t size) {
    mst_hlo_fault(l, mst_hlo_outside(l, l->src[1], size), MST_INVALID, "an index is out of range: 0 to %lld",
                  (long long)size - 1);
    return l->src[1];
}

static int axis_of(const mst_lower *l, const mst_shape *params) {
    const int axis = ((const mst_gather_options *)l->options)->axis;
    return axis < 0 ? axis + params->ndim : axis;
}

static void gather_lower(mst_lower *l) {
    const mst_shape params = l->src_spec[0].shape, dst = l->dst_spec[0].shape;
    const int axis = axis_of(l, &params), num_index = l->src_spec[1].shape.ndim;
    const mst_hlo indices = checked_indices(l, params.dim[axis]);
    mst_hlo_indexing indexing = {.collapsed = MST_AXES(axis), .map = MST_AXES(axis), .vector_axis = num_index};
    for (int k = 0; k < dst.ndim; k++)
        if (k < axis || k >= axis + num_index) indexing.offset.axis[indexing.offset.count++] = k;
    mst_shape size = params;
    size.dim[axis] = 1;
    l->dst[0] = params.dim[axis] ? mst_hlo_gather(l, l->src[0], indices, &indexing, size, dst)
                                 : mst_hlo_fill(l, l->dst_spec[0].dtype, dst, 0);
}

typedef struct gather_work {
    const mst_kernel_args *args;
    mst_gather_sizes size;
} gather_work;

/* Copies rows BEGIN to END - 1 of dst. With n indices, row i belongs to index i % n of outer row i / n. */
static mst_status copy_rows(void *context, int64_t begin, int64_t end, int thread) {
    const gather_work *w = context;
    const mst_array *params = &w->args->src[0], *indices = &w->args->src[1];
    const int64_t row = w->size.inner * (int64_t)mst_dtype_size(params->dtype);
    char *dst = (char *)w->args->dst[0].data + begin * row;
    (void)thread;
    while (begin < end) {
        const int64_t outer = begin / indices->count, first = begin % indices->count;
        const int64_t rest = indices->count - first, n = rest < end - begin ? rest : end - begin;
        const char *src = (const char *)params->data + outer * w->size.size * row;
        MST_TRY(mst_gather_check(w->args, indices, w->size.size, first, first + n));
        for (int64_t i = first; i < first + n && row > 0; i++, dst += row)
            memcpy(dst, src + mst_gather_index(indices, i) * row, (size_t)row);
        begin += n;
    }
    return MST_OK;
}

static mst_status gather_reference(const mst_kernel_args *a) {
    gather_work w = {.args = a, .size = mst_gather_loops(a, &a->src[0])};
    if (a->dst[0].count == 0) return mst_gather_check(a, &a->src[1], w.size.size, 0, a->src[1].count);
    const int64_t row = w.size.inner * (int64_t)mst_dtype_size(a->src[0].dtype);
    const int64_t rows = w.size.outer * a->src[1].count;
    return mst_parallel(a, rows, mst_grain_bytes(rows, row < 16 ? 16 : row), copy_rows, &w);
}

static const mst_example gather_examples[] = {
    {.name = "rows",
     .num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 2, .dim = {3, 2}, .value = (const double[]){1, 2, 3, 4, 5, 6}},
             {.dtype = MST_I64, .ndim = 1, .dim = {3}, .value = (const double[]){2, 0, 2}}},
     .expect = {(const double[]){5, 6, 1, 2, 5, 6}}},
    {.name = "columns by a matrix",
     .num_src = 2,
     .src = {{.dtype = MST_U8, .ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}},
             {.dtype = MST_I32, .ndim = 2, .dim = {2, 2}, .value = (const double[]){0, 1, 2, 2}}},
     .options = &(const mst_gather_options){.axis = -1},
     .expect = {(const double[]){1, 2, 3, 3, 4, 5, 6, 6}}},
    {.name = "one index",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 0, 0, 1}},
             {.dtype = MST_I32, .ndim = 0, .value = (const double[]){1}}},
     .expect = {(const double[]){0, 1}}},
    {.name = "all dtypes",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 3, 2}},
             {.dtype = MST_I32, .ndim = 1, .dim = {4}, .value = (const double[]){1, 1, 2, 0}}},
     .options = &(const mst_gather_options){.axis = 1}},
    {.name = "no indices", .num_src = 2, .src = {{.ndim = 1, .dim = {2}}, {.dtype = MST_I64, .ndim = 1, .dim = {0}}}},
    {.name = "index too large",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {2}}, {.dtype = MST_I64, .ndim = 1, .dim = {1}, .value = (const double[]){2}}},
     .fails = MST_INVALID},
    {.name = "negative index",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {2}}, {.dtype = MST_I32, .ndim = 1, .dim = {1}, .value = (const double[]){-1}}},
     .fails = MST_INVALID},
    {.name = "of nothing",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {0}}, {.dtype = MST_I32, .ndim = 1, .dim = {1}, .value = (const double[]){0}}},
     .fails = MST_INVALID},
    {.name = "indices are no integers",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {2}}, {.dtype = MST_F32, .ndim = 1, .dim = {1}}},
     .fails = MST_INVALID},
    {.name = "scalar params",
     .num_src = 2,
     .src = {{.ndim = 0}, {.dtype = MST_I32, .ndim = 1, .dim = {1}, .value = (const double[]){0}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_gather = {
    .name = "gather",
    .tf_form =
        "GatherV2($0, $1, axis; Tparams=t0 Tindices=t1 Taxis=i32 batch_dims=0)\n"
        "<Gather($0, $1; validate_indices=*)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .fields = mst_gather_fields,
    .options_size = sizeof(mst_gather_options),
    .infer = gather_infer,
    .grad = gather_grad,
    .reference = gather_reference,
    .lower = gather_lower,
    MST_EXAMPLES(gather_examples),
};

mst_value mst_gather(mst_value params, mst_value indices, int axis) {
    return mst_call(NULL, &mst_op_gather, 2, (mst_value[]){params, indices}, &(mst_gather_options){.axis = axis});
}

/* ---- the gradient ---- */

/** gather_grad: dst = zeros; dst[.., indices[i], ..] += gradient[.., i, ..] for i in ascending order
 *
 *  gradient  f32, f64, i32, i64 or u8: of the output of gather
 *  indices   i32 or i64: indices of the gather
 *  like      any dtype: params of the gather; only its shape is used
 *  dst       gradient's dtype, like's shape
 *  axis      as in gather
 *  fails     MST_INVALID in the run if an index is negative or too large
 */

static mst_status gather_grad_infer(mst_infer *c) {
    mst_shape part = {.ndim = 0};
    MST_TRY(mst_infer_want_listed(c, 0));
    MST_TRY(mst_gather_infer(c, &c->src[2].shape, 1, &part));
    const mst_shape *have = &c->src[0].shape;
    char text[MST_SHAPE_TEXT];
    if (have->ndim != part.ndim || !mst_dims_agree(have, &part, part.ndim))
        return mst_infer_fail(c, "gather gives shape %s", mst_shape_print(part, text, sizeof text));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = c->src[2].shape};
    return MST_OK;
}

static mst_value gather_grad_grad(mst_grad *c, int i) {
    if (i > 0) return MST_NONE;
    return mst_gather(c->ddst[0], c->src[1], ((const mst_gather_options *)c->options)->axis);
}

/* The rows of all outer parts are put side by side, so that one mst_hlo_sum_by_number computes them all. */
static void gather_grad_lower(mst_lower *l) {
    const mst_shape params = l->dst_spec[0].shape;
    const int axis = axis_of(l, &params);
    const mst_shape parts = mst_parts_around(params, axis);
    const int64_t outer = parts.dim[0], size = parts.dim[1], inner = parts.dim[2];
    const int64_t n = mst_shape_count(l->src_spec[1].shape);
    const mst_hlo numbers = mst_hlo_reshape(l, checked_indices(l, size), MST_SHAPE(1, n));
    mst_hlo rows = mst_hlo_reshape(l, l->src[0], MST_SHAPE(outer, n, inner));
    if (outer > 1) rows = mst_hlo_transpose(l, rows, MST_AXES(1, 0, 2));
    rows = mst_hlo_reshape(l, rows, MST_SHAPE(1, n, outer * inner));
    mst_hlo sum = mst_hlo_sum_by_number(l, numbers, rows, size);
    sum = mst_hlo_reshape(l, sum, MST_SHAPE(size, outer, inner));
    if (outer > 1) sum = mst_hlo_transpose(l, sum, MST_AXES(1, 0, 2));
    l->dst[0] = mst_hlo_reshape(l, sum, params);
}

#define MST_TEMPLATE "op/index/gather_scatter.inc"
#include "op/numbers.inc"

static mst_status check_all(void *context, int64_t begin, int64_t end, int thread) {
    const gather_work *w = context;
    (void)thread;
    return mst_gather_check(w->args, &w->args->src[1], w->size.size, begin, end);
}

/* Computes rows BEGIN to END - 1 of dst. Row i is row i % size of outer row i / size. */
static mst_status scatter_rows(void *context, int64_t begin, int64_t end, int thread) {
    static void (*const scatter[MST_NUM_DTYPES])(const mst_gather_sizes *s, const mst_array *indices,
                                                 const void *src_row, void *dst_row, int64_t first,
                                                 int64_t last) = {MST_BY_NUMBER(scatter)};
    const gather_work *w = context;
    const mst_gather_sizes *s = &w->size;
    const mst_array *indices = &w->args->src[1], *dst = &w->args->dst[0];
    const int64_t row = s->inner * (int64_t)mst_dtype_size(dst->dtype);
    (void)thread;
    memset((char *)dst->data + begin * row, 0, (size_t)((end - begin) * row));
    while (begin < end) {
        const int64_t outer = begin / s->size, first = begin % s->size;
        const int64_t rest = s->size - first, last = first + (rest < end - begin ? rest : end - begin);
        const char *from = (const char *)w->args->src[0].data + outer * indices->count * row;
        char *to = (char *)dst->data + outer * s->size * row;
        scatter[dst->dtype](s, indices, from, to, first, last);
        begin += last - first;
    }
    return MST_OK;
}

/* Each run of rows reads all indices of its outer rows. So if several runs share an outer row, the number of runs is
 * only a small multiple of the number of threads. */
static mst_status gather_grad_reference(const mst_kernel_args *a) {
    enum { RUNS_PER_THREAD = 2 };
    const mst_array *dst = &a->dst[0];
    gather_work w = {.args = a, .size = mst_gather_loops(a, dst)};
    MST_TRY(mst_parallel(a, a->src[1].count, mst_grain(a->src[1].count, 1), check_all, &w));
    if (dst->count == 0) return MST_OK;
    const int64_t rows = w.size.outer * w.size.size, moved = (a->src[0].count + dst->count) / rows;
    const int64_t least = mst_grain(rows, moved), even = rows / (RUNS_PER_THREAD * a->num_threads) + 1;
    return mst_parallel(a, rows, even > least ? even : least, scatter_rows, &w);
}

static const mst_example gather_grad_examples[] = {
    {.name = "rows, one twice",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {3, 2}, .value = (const double[]){1, 2, 3, 4, 5, 6}},
             {.dtype = MST_I64, .ndim = 1, .dim = {3}, .value = (const double[]){2, 0, 2}},
             {.ndim = 2, .dim = {3, 2}, .no_grad = true}},
     .expect = {(const double[]){3, 4, 0, 0, 6, 8}}},
    {.name = "columns by a matrix",
     .num_src = 3,
     .src = {{.ndim = 3, .dim = {1, 2, 2}, .value = (const double[]){1, 2, 3, 4}},
             {.dtype = MST_I32, .ndim = 2, .dim = {2, 2}, .value = (const double[]){0, 1, 1, 1}},
             {.dtype = MST_F32, .ndim = 2, .dim = {1, 3}, .no_grad = true}},
     .options = &(const mst_gather_options){.axis = 1},
     .expect = {(const double[]){1, 9, 0}}},
    {.name = "no indices",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {0}},
             {.dtype = MST_I64, .ndim = 1, .dim = {0}},
             {.ndim = 1, .dim = {2}, .no_grad = true}},
     .expect = {(const double[]){0, 0}}},
    {.name = "one index",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {2}},
             {.dtype = MST_I32, .ndim = 0, .value = (const double[]){1}},
             {.ndim = 2, .dim = {2, 2}, .no_grad = true}}},
    {.name = "many indices of few rows",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {41, 3}},
             {.dtype = MST_I32, .ndim = 1, .dim = {41}, .low = 0, .high = 4},
             {.ndim = 2, .dim = {5, 3}, .no_grad = true}}},
    {.name = "many indices of few columns",
     .num_src = 3,
     .src = {{.ndim = 3, .dim = {2, 19, 3}},
             {.dtype = MST_I64, .ndim = 1, .dim = {19}, .low = 0, .high = 6},
             {.ndim = 3, .dim = {2, 7, 3}, .no_grad = true}},
     .options = &(const mst_gather_options){.axis = 1}},
    {.name = "index too large",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {1}},
             {.dtype = MST_I64, .ndim = 1, .dim = {1}, .value = (const double[]){2}},
             {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
    {.name = "not the shape of the gather",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {2}},
             {.dtype = MST_I64, .ndim = 1, .dim = {1}, .value = (const double[]){0}},
             {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_gather_grad = {
    .name = "gather_grad",
    .num_src = 3,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .shape_only = 1u << 2,
    .fields = mst_gather_fields,
    .options_size = sizeof(mst_gather_options),
    .infer = gather_grad_infer,
    .grad = gather_grad_grad,
    .reference = gather_grad_reference,
    .lower = gather_grad_lower,
    MST_EXAMPLES(gather_grad_examples),
};

mst_value mst_gather_grad(mst_value gradient, mst_value indices, mst_value like, int axis) {
    return mst_call(NULL, &mst_op_gather_grad, 3, (mst_value[]){gradient, indices, like},
                    &(mst_gather_options){.axis = axis});
}
