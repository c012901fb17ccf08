/* sum_rows: the gradient of gather over rows, with each row once (op/state/update.h). A radix sort sorts the row
 * indices together with the places of the rows in the sources. It keeps rows with the same index in order. Then the
 * rows with the same index are added up.
 *
 * Sources come in pairs: rows, and their indices. dst 0 has the rows of the sums; with `squares`, each row is its sums,
 * then its sums of squares. dst 1 has their number, and then their indices; so number[-1] below is their number. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "kernel/kernel.h"
#include "op/index/gather.h"
#include "op/state/update.h"
#include "tensor/buffer.h"

/* A row of a source, with its index. */
typedef struct row {
    int64_t number;
    int32_t source;
    int32_t at; /* its place in the source */
} row;

typedef struct update_sum_rows_state {
    int64_t most; /* number of rows of all sources together */
} update_sum_rows_state;

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* The arrays in the workspace. */
typedef struct workspace {
    row *rows, *other;
    int64_t *start; /* where the run of each index begins; then the end of the last run */
} workspace;

static size_t divide(const update_sum_rows_state *s, char *memory, workspace *out) {
    const size_t rows = mst_align((size_t)s->most * sizeof(row));
    if (out) {
        out->rows = (row *)(void *)memory;
        out->other = (row *)(void *)(memory + rows);
        out->start = (int64_t *)(void *)(memory + 2 * rows);
    }
    return 2 * rows + (size_t)(s->most + 1) * sizeof(int64_t);
}

static mst_status update_sum_rows_prepare(const mst_infer *c, int num_threads, void **out, size_t *bytes) {
    (void)num_threads;
    update_sum_rows_state *s = calloc(1, sizeof *s);
    if (!s) return MST_NO_MEMORY("for a kernel");
    for (int i = 1; i < c->num_src; i += 2) s->most += mst_shape_count(c->src[i].shape);
    *bytes = divide(s, NULL, NULL);
    *out = s;
    return MST_OK;
}

static mst_status collect(const mst_kernel_args *a, int64_t num_rows, row *rows, int64_t *count) {
    row *next = rows;
    for (int i = 0; i < a->num_src; i += 2) {
        const mst_array *indices = &a->src[i + 1];
        for (int64_t k = 0; k < indices->count; k++, next++) {
            *next = (row){.number = mst_gather_index(indices, k), .source = i, .at = (int32_t)k};
            if (next->number < 0 || next->number >= num_rows)
                return mst_kernel_fail(a, MST_INVALID, "index %lld is not in [0, %lld)", (long long)next->number,
                                       (long long)num_rows);
        }
    }
    *count = next - rows;
    return MST_OK;
}

/* Sorts by index, least significant digit first. The result is in *ROWS. */
static void sort(row **rows, row **other, int64_t count, int64_t num_rows) {
    for (int shift = 0; shift < 63 && (num_rows - 1) >> shift; shift += DIGIT_BITS) {
        int64_t first[DIGITS + 1] = {0};
        for (int64_t i = 0; i < count; i++) first[((*rows)[i].number >> shift & (DIGITS - 1)) + 1]++;
        for (int d = 0; d < DIGITS; d++) first[d + 1] += first[d];
        for (int64_t i = 0; i < count; i++) {
            int64_t *to = &first[(*rows)[i].number >> shift & (DIGITS - 1)];
            (*other)[(*to)++] = (*rows)[i];
        }
        row *sorted = *other;
        *other = *rows;
        *rows = sorted;
    }
}

typedef struct update_sum_rows_work {
    const mst_kernel_args *args;
    workspace space;
    int64_t columns, width; /* elements of a row of the sources, and of a row of dst */
    bool squares;           /* a row of dst has the sums of the elements, and then the sums of their squares */
    double clip;            /* elements are first limited to [-clip, clip]; 0: they are not */
} update_sum_rows_work;

#define MST_TEMPLATE "kernel/cpu/update_sum_rows.inc"
#include "base/floats.inc"

static mst_status sum_runs(void *context, int64_t begin, int64_t end, int thread) {
    const update_sum_rows_work *w = context;
    (void)thread;
    (w->args->dst[0].dtype == MST_F64 ? sum_rows_f64 : sum_rows_f32)(w, begin, end);
    return MST_OK;
}

static mst_status update_sum_rows_run(const mst_kernel_args *a) {
    enum { RUN_ELEMENTS = 8192 };
    const mst_sum_rows_options *o = a->options;
    const int64_t bound = a->dst[0].shape.dim[0];
    int64_t *number = (int64_t *)a->dst[1].data + 1, count = 0, runs = 0;
    update_sum_rows_work w = {
        .args = a, .width = bound ? a->dst[0].count / bound : 0, .squares = o->squares, .clip = o->clip};
    w.columns = o->squares ? w.width / 2 : w.width;
    divide(a->state, a->workspace, &w.space);
    MST_TRY(collect(a, o->num_rows, w.space.rows, &count));
    sort(&w.space.rows, &w.space.other, count, o->num_rows);
    for (int64_t i = 0; i < count; i++) {
        if (i > 0 && w.space.rows[i].number == w.space.rows[i - 1].number) continue;
        w.space.start[runs] = i;
        number[runs++] = w.space.rows[i].number;
    }
    w.space.start[runs] = count;
    number[-1] = runs;
    const int64_t grain = w.columns > 0 ? RUN_ELEMENTS / w.columns : 1;
    return mst_parallel(a, runs, grain > 1 ? grain : 1, sum_runs, &w);
}

static mst_kernel_function update_sum_rows_choose(const mst_infer *c, int num_threads) {
    (void)c, (void)num_threads;
    return update_sum_rows_run;
}

const mst_kernel mst_kernel_cpu_update_sum_rows = {
    .engine = "cpu",
    .ops = (const char *const[]){"sum_rows", NULL},
    .select = update_sum_rows_choose,
    .prepare = update_sum_rows_prepare,
    .release = free,
};
