/* merge_rows: sparse gradients added up row by row (op/state/update.h). The sources have each row once, ascending, so
 * one walk over all of them finds the rows of the sum; then the sum of each is made in the tree. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "kernel/kernel.h"
#include "op/state/update.h"
#include "tensor/buffer.h"

typedef struct state {
    int32_t num_leaves;
    int64_t columns;
    size_t stack, cursors; /* bytes of a thread's workspace: sums that wait for others, a place in each source */
} state;

typedef struct work {
    const mst_kernel_args *args;
    const state *state;
    const mst_merge_rows_options *options;
    const int64_t *number; /* of the rows of the sum */
} work;

static mst_status update_merge_rows_prepare(const mst_infer *c, int num_threads, void **out, size_t *bytes) {
    const mst_merge_rows_options *o = c->options;
    state *s = calloc(1, sizeof *s);
    if (!s) return MST_NO_MEMORY("for a kernel");
    const int64_t bound = c->dst[0].shape.dim[0];
    s->num_leaves = c->num_src / 2;
    s->columns = bound ? mst_shape_count(c->dst[0].shape) / bound : 0;
    s->stack = mst_align((size_t)mst_shards_levels(o->leaf, s->num_leaves, o->num_shards) * (size_t)s->columns *
                         mst_dtype_size(c->dst[0].dtype));
    s->cursors = mst_align((size_t)s->num_leaves * sizeof(int64_t));
    *bytes = (size_t)num_threads * (s->stack + s->cursors);
    *out = s;
    return MST_OK;
}

static const int64_t *numbers(const mst_kernel_args *a, int32_t leaf) {
    return (const int64_t *)a->src[2 * leaf + 1].data + 1;
}

/* Sets the place of each source to its first row that is FIRST or a later one. */
static void find_row(const work *w, int64_t first, int64_t *place) {
    for (int32_t i = 0; i < w->state->num_leaves; i++) {
        const int64_t *number = numbers(w->args, i);
        int64_t low = 0, high = number[-1];
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            *(number[middle] < first ? &low : &high) = number[middle] < first ? middle + 1 : middle;
        }
        place[i] = low;
    }
}

/* Writes the numbers of all rows that some source has; returns how many there are. */
static int64_t list_rows(const work *w, int64_t *place, int64_t *out) {
    int64_t count = 0;
    find_row(w, w->options->first_row, place);
    for (;; count++) {
        int64_t next = w->options->end_row;
        for (int32_t i = 0; i < w->state->num_leaves; i++) {
            const int64_t *number = numbers(w->args, i);
            if (place[i] < number[-1] && number[place[i]] < next) next = number[place[i]];
        }
        if (next == w->options->end_row) return count;
        out[count] = next;
        for (int32_t i = 0; i < w->state->num_leaves; i++) {
            const int64_t *number = numbers(w->args, i);
            place[i] += place[i] < number[-1] && number[place[i]] == next;
        }
    }
}

#define MST_TEMPLATE "kernel/cpu/update_merge_rows.inc"
#include "base/floats.inc"

static mst_status sum_rows(void *context, int64_t begin, int64_t end, int thread) {
    const work *w = context;
    char *workspace = (char *)w->args->workspace + (size_t)thread * (w->state->stack + w->state->cursors);
    int64_t *place = (int64_t *)(void *)(workspace + w->state->stack);
    find_row(w, w->number[begin], place);
    (w->args->dst[0].dtype == MST_F64 ? sum_all_f64 : sum_all_f32)(w, begin, end, place, workspace);
    return MST_OK;
}

static mst_status update_merge_rows_run(const mst_kernel_args *a) {
    enum { ELEMENTS = 8192 };
    const state *s = a->state;
    int64_t *number = (int64_t *)a->dst[1].data + 1;
    work w = {.args = a, .state = s, .options = a->options, .number = number};
    number[-1] = list_rows(&w, (int64_t *)(void *)((char *)a->workspace + s->stack), number);
    if (number[-1] == 0) return MST_OK;
    const int64_t grain = s->columns > 0 ? ELEMENTS / s->columns : 1;
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
