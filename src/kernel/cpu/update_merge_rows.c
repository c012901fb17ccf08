/* merge_rows: adds up sparse gradients row by row (op/state/update.h, kernel/row_merge.h). dst 0 has the rows of the
 * sum. dst 1 has their number, and then their indices; so number[-1] below is their number. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "kernel/kernel.h"
#include "kernel/row_merge.h"
#include "op/state/update.h"

typedef struct update_merge_rows_state {
    mst_row_merge merge;
    size_t workspace; /* bytes for each thread */
} update_merge_rows_state;

typedef struct update_merge_rows_work {
    const mst_kernel_args *args;
    mst_row_merge merge;
    const int64_t *number; /* indices of the rows of the sum */
} update_merge_rows_work;

static mst_status update_merge_rows_prepare(const mst_infer *c, int num_threads, void **out, size_t *bytes) {
    const mst_merge_rows_options *o = c->options;
    update_merge_rows_state *s = calloc(1, sizeof *s);
    if (!s) return MST_NO_MEMORY("for a kernel");
    const int64_t bound = c->dst[0].shape.dim[0];
    s->merge = (mst_row_merge){.dtype = c->dst[0].dtype,
                               .columns = bound ? mst_shape_count(c->dst[0].shape) / bound : 0,
                               .num_shards = o->num_shards,
                               .num_leaves = c->num_src / 2,
                               .leaf = o->leaf};
    s->workspace = mst_row_merge_workspace(&s->merge);
    *bytes = (size_t)num_threads * s->workspace;
    *out = s;
    return MST_OK;
}

static mst_status sum_rows(void *context, int64_t begin, int64_t end, int thread) {
    const update_merge_rows_work *w = context;
    const mst_kernel_args *a = w->args;
    const update_merge_rows_state *s = a->state;
    mst_row_merge_sum(&w->merge, w->number, begin, end, (char *)a->workspace + (size_t)thread * s->workspace,
                      a->dst[0].data);
    return MST_OK;
}

static mst_status update_merge_rows_run(const mst_kernel_args *a) {
    enum { ELEMENTS = 8192 };
    const update_merge_rows_state *s = a->state;
    const mst_merge_rows_options *o = a->options;
    int64_t *number = (int64_t *)a->dst[1].data + 1;
    update_merge_rows_work w = {.args = a, .merge = s->merge, .number = number};
    w.merge.src = a->src;
    number[-1] = mst_row_merge_list(&w.merge, o->first_row, o->end_row, a->workspace, number);
    if (number[-1] == 0) return MST_OK;
    const int64_t grain = s->merge.columns > 0 ? ELEMENTS / s->merge.columns : 1;
    return mst_parallel(a, number[-1], grain > 1 ? grain : 1, sum_rows, &w);
}

static mst_kernel_function update_merge_rows_choose(const mst_infer *c, int num_threads) {
    (void)c, (void)num_threads;
    return update_merge_rows_run;
}

const mst_kernel mst_kernel_cpu_update_merge_rows = {
    .engine = "cpu",
    .ops = (const char *const[]){"merge_rows", NULL},
    .select = update_merge_rows_choose,
    .prepare = update_merge_rows_prepare,
    .release = free,
};
