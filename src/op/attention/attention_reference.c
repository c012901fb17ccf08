/* The reference kernels of attention and its gradient. They take one query after the other. */
#include <math.h>
#include <string.h>

#include "op/attention/attention.h"
#include "op/op.h"
#include "op/share.h"

#define MST_TEMPLATE "op/attention/attention_rows.inc"
#include "base/floats.inc"

static mst_attention sizes_of(const mst_kernel_args *a, int mask) {
    return mst_attention_make(a->options, &a->src[0].shape, &a->src[1].shape, &a->src[2].shape,
                              mask ? &a->src[mask].shape : NULL);
}

size_t mst_attention_workspace(const mst_infer *c, int num_threads) {
    return (size_t)num_threads * (size_t)c->src[1].shape.dim[2] * sizeof(double);
}

/* Computes queries BEGIN to END - 1, numbered over [batch, heads, queries]. */
static mst_status attend_run(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_attention s = sizes_of(a, a->num_src > 3 ? 3 : 0);
    double *p = (double *)a->workspace + thread * s.keys;
    for (int64_t row = begin; row < end; row++) {
        const int64_t head = row / s.queries, query = row % s.queries;
        (a->dst[0].dtype == MST_F32 ? attend_f32 : attend_f64)(a, &s, head / s.heads, head % s.heads, query, p);
    }
    return MST_OK;
}

mst_status mst_attention_reference(const mst_kernel_args *a) {
    const mst_attention s = sizes_of(a, a->num_src > 3 ? 3 : 0);
    const int64_t rows = a->dst[1].count;
    return mst_parallel(a, rows, mst_grain(rows, s.keys * (s.depth + s.columns)), attend_run, mst_context_of(a));
}

/* Numbers in the workspace of a thread: one for each key, the gradient of a query, and the gradients of all keys and
 * values of a head. */
static int64_t numbers_of_thread(int64_t keys, int64_t depth, int64_t columns) {
    return keys * (1 + depth + columns) + depth;
}

size_t mst_attention_grad_workspace(const mst_infer *c, int num_threads) {
    const int64_t *key = c->src[1].shape.dim, columns = c->src[2].shape.dim[3];
    return (size_t)num_threads * (size_t)numbers_of_thread(key[2], key[3], columns) * sizeof(double);
}

/* Computes the gradients of key heads BEGIN to END - 1, numbered over [batch, key heads], and of their queries. */
static mst_status attend_back_run(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_attention s = sizes_of(a, a->num_src > 6 ? 6 : 0);
    const bool is_f32 = a->dst[0].dtype == MST_F32;
    const int64_t keys = s.keys * s.depth, values = s.keys * s.columns;
    const size_t size = is_f32 ? sizeof(float) : sizeof(double);
    double *p = (double *)a->workspace + thread * numbers_of_thread(s.keys, s.depth, s.columns);
    double *dq = p + s.keys, *dk = dq + s.depth, *dv = dk + keys;
    for (int64_t item = begin; item < end; item++) {
        const int64_t batch = item / s.key_heads, head = item % s.key_heads * s.group;
        memset(dk, 0, (size_t)(keys + values) * sizeof *dk);
        for (int64_t row = 0; row < s.group * s.queries; row++)
            (is_f32 ? attend_back_f32 : attend_back_f64)(a, &s, batch, head + row / s.queries, row % s.queries, p, dq,
                                                         dk, dv);
        (is_f32 ? round_all_f32 : round_all_f64)(dk, keys, (char *)a->dst[1].data + (size_t)(item * keys) * size);
        (is_f32 ? round_all_f32 : round_all_f64)(dv, values, (char *)a->dst[2].data + (size_t)(item * values) * size);
    }
    return MST_OK;
}

mst_status mst_attention_grad_reference(const mst_kernel_args *a) {
    const mst_attention s = sizes_of(a, a->num_src > 6 ? 6 : 0);
    const int64_t items = s.batch * s.key_heads, queries = s.group * s.queries;
    return mst_parallel(a, items, mst_grain(items, queries * s.keys * (s.depth + s.columns)), attend_back_run,
                        mst_context_of(a));
}
