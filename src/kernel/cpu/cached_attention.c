/* Attention of the next steps of a sequence. Each query is computed separately, over the past keys and then the new
 * ones. So the bits depend neither on the number of steps in a call nor on the number of threads. */
#include "op/attention/cached_attention.h"
#include "kernel/cpu/base/attention_row.h"
#include "kernel/kernel.h"
#include "op/list.h"
#include "op/op.h"
#include "op/share.h"

static mst_status attend_rows(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_cached_sizes c = mst_cached_sizes_of(a);
    const mst_attention *s = &c.sizes;
    float *p = (float *)a->workspace + thread * (c.capacity + s->keys), base;
    for (int64_t row = begin; row < end; row++) {
        const int64_t item = row / (s->group * s->queries), new = row % s->queries + 1;
        const float *q = (const float *)a->src[0].data + row * s->depth;
        float *dst = (float *)a->dst[0].data + row * s->columns;
        mst_row_products(q, (const float *)a->src[MST_PAST_KEY].data + item * c.capacity * s->depth, c.past, s->depth,
                         (float)s->scale, p);
        mst_row_products(q, (const float *)a->src[1].data + item * s->keys * s->depth, new, s->depth, (float)s->scale,
                         p + c.past);
        const float factor = 1 / mst_row_weights(p, c.past + new, &base);
        mst_row_add(p, (const float *)a->src[MST_PAST_VALUE].data + item * c.capacity * s->columns, c.past, s->columns,
                    dst, true);
        mst_row_add(p + c.past, (const float *)a->src[2].data + item * s->keys * s->columns, new, s->columns, dst,
                    false);
        for (int64_t j = 0; j < s->columns; j++) dst[j] *= factor;
    }
    return MST_OK;
}

static mst_status cached_attention_run(const mst_kernel_args *a) {
    const mst_cached_sizes c = mst_cached_sizes_of(a);
    const int64_t rows = c.sizes.batch * c.sizes.heads * c.sizes.queries;
    const int64_t cost = (c.past + c.sizes.keys) * (c.sizes.depth + c.sizes.columns) / 8;
    return mst_parallel(a, rows, mst_grain(rows, cost), attend_rows, mst_context_of(a));
}

static mst_kernel_function cached_attention_choose(const mst_infer *c, int num_threads) {
    (void)num_threads;
    if (c->src[0].dtype != MST_F32 || mst_shape_count(c->dst[0].shape) == 0) return NULL;
    return cached_attention_run;
}

static mst_status cached_attention_prepare(const mst_infer *c, int num_threads, void **out, size_t *workspace) {
    *out = NULL;
    *workspace = mst_cached_attention_workspace(c, num_threads);
    return MST_OK;
}

const mst_kernel mst_kernel_cpu_cached_attention = {
    .engine = "cpu",
    .ops = (const char *const[]){"cached_attention", NULL},
    .select = cached_attention_choose,
    .prepare = cached_attention_prepare,
};
