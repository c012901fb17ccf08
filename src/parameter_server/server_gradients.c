/* Gradients from workers (message_body.h): finding each one in a message, and adding them up. Only the existing rows of
 * a sparse gradient are sent, added up, and fed to the update. */
#include "parameter_server/server_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/denormal.h"
#include "base/no_memory.h"
#include "base/shard_rows.h"
#include "collective/tree_sum.h"
#include "kernel/row_merge.h"
#include "parameter_server/message_body.h"

#define SAME_PROGRAM "start the same program on all workers"

/* ---- reading ---- */

static size_t row_bytes(const mst_server_variable *v) {
    return (size_t)v->columns * mst_dtype_size(v->spec.dtype);
}

static mst_status too_short(mst_server *s, const mst_task_message *message, const mst_server_variable *v) {
    return MST_FAIL(MST_INVALID, "%s has sent %zu bytes of gradients, which end in that of '%s': " SAME_PROGRAM,
                    mst_server_name(s, message->from), message->bytes, v->name);
}

static mst_status check_numbers(mst_server *s, const mst_task_message *message, const mst_server_variable *v,
                                const int64_t *number) {
    for (int64_t i = 1, last = -1; i <= number[0]; last = number[i++]) {
        if (number[i] < 0 || number[i] >= v->num_rows)
            return MST_FAIL(
                MST_INVALID, "%s has sent row %lld of the gradient of '%s', which has rows 0 to %lld: " SAME_PROGRAM,
                mst_server_name(s, message->from), (long long)number[i], v->name, (long long)v->num_rows - 1);
        if (number[i] <= last)
            return MST_FAIL(MST_INVALID,
                            "%s has sent row %lld of the gradient of '%s' after row %lld: row numbers must ascend",
                            mst_server_name(s, message->from), (long long)number[i], v->name, (long long)last);
    }
    return MST_OK;
}

static mst_status read_rows(mst_server *s, const mst_task_message *message, const mst_server_variable *v,
                            mst_message_body_rest *r, mst_server_piece *out) {
    const int64_t *number = mst_message_body_take(r, sizeof *number);
    if (!number) return too_short(s, message, v);
    const int64_t count = number[0];
    if (count < 0 || count > v->num_rows)
        return MST_FAIL(MST_INVALID, "%s has sent %lld rows of the gradient of '%s', which has %lld: " SAME_PROGRAM,
                        mst_server_name(s, message->from), (long long)count, v->name, (long long)v->num_rows);
    if (!mst_message_body_take(r, (size_t)count * sizeof *number)) return too_short(s, message, v);
    *out = (mst_server_piece){.data = mst_message_body_take(r, (size_t)count * row_bytes(v)), .number = number};
    return out->data ? check_numbers(s, message, v, number) : too_short(s, message, v);
}

mst_status mst_server_read_gradients(mst_server *s, const mst_task_message *message) {
    mst_message_body_rest r = {message->body, message->bytes};
    for (int32_t l = s->gradients.first_leaf[message->from]; l < s->gradients.first_leaf[message->from + 1]; l++)
        for (int32_t v = 0; v < s->variables.count; v++) {
            const mst_server_variable *at = &s->variables.at[v];
            mst_server_piece *piece = &s->gradients.piece[(ptrdiff_t)l * s->variables.count + v];
            if (at->is_sparse) {
                MST_TRY(read_rows(s, message, at, &r, piece));
                continue;
            }
            *piece = (mst_server_piece){.data = mst_message_body_take(&r, at->bytes)};
            if (!piece->data) return too_short(s, message, at);
        }
    if (r.bytes == 0) return MST_OK;
    return MST_FAIL(MST_INVALID, "%s has sent %zu bytes of gradients, %zu too many: " SAME_PROGRAM,
                    mst_server_name(s, message->from), message->bytes, r.bytes);
}

/* ---- sums ---- */

/* Makes room for the sum of COUNT rows. When it grows, it at least doubles: the update is planned anew for each size,
 * so sizes should be few. */
static mst_status make_room_for_rows(mst_server *s, mst_server_variable *v, int64_t count) {
    enum { LEAST = 64 };
    int64_t most = v->sum ? mst_tensor_shape(v->sum).dim[0] : 0;
    if (v->sum && count <= most) return MST_OK;
    for (most = most > LEAST ? most : LEAST; most < count;) most *= 2;
    if (most > v->num_rows) most = v->num_rows;
    mst_tensor_release(v->sum);
    mst_tensor_release(v->number);
    v->sum = v->number = NULL;
    MST_TRY(mst_tensor_create(v->spec.dtype, MST_SHAPE(most, v->columns), &v->sum));
    MST_TRY(mst_tensor_create(MST_I64, MST_SHAPE(1 + most), &v->number));
    s->gradients.feed[v->feed].tensor = v->sum;
    s->gradients.feed[v->feed + 1].tensor = v->number;
    return MST_OK;
}

/* The gradient of a leaf. If the gradients of its worker are not there, it is zeros, or no rows. */
static mst_server_piece piece_of(const mst_server *s, int32_t worker, int32_t leaf, int32_t v) {
    const mst_server_piece none = {s->gradients.zero, (const int64_t *)(const void *)s->gradients.zero};
    return s->worker[worker].gradients ? s->gradients.piece[(ptrdiff_t)leaf * s->variables.count + v] : none;
}

/* Sets the terms of the sum of variable V: two for each leaf if it is sparse. Returns the number of rows in them. */
static int64_t set_terms(mst_server *s, int32_t v) {
    const int32_t each = s->variables.at[v].is_sparse ? 2 : 1;
    int64_t rows = 0;
    for (int32_t w = 0; w < s->num_workers; w++)
        for (int32_t l = s->gradients.first_leaf[w]; l < s->gradients.first_leaf[w + 1]; l++) {
            const mst_server_piece piece = piece_of(s, w, l, v);
            s->gradients.terms[each * l].data = (void *)(uintptr_t)piece.data;
            if (each == 1) continue;
            s->gradients.terms[each * l + 1].data = (void *)(uintptr_t)piece.number;
            rows += piece.number[0];
        }
    return rows;
}

static mst_status sum_rows(mst_server *s, int32_t v) {
    mst_server_variable *at = &s->variables.at[v];
    const mst_row_merge merge = {.dtype = at->spec.dtype,
                                 .columns = at->columns,
                                 .num_shards = (int32_t)s->job.num_shards,
                                 .num_leaves = s->gradients.first_leaf[s->num_workers],
                                 .leaf = s->gradients.leaf,
                                 .src = s->gradients.terms};
    const int64_t rows = set_terms(s, v);
    MST_TRY(make_room_for_rows(s, at, rows < at->num_rows ? rows : at->num_rows));
    int64_t *number = mst_tensor_data(at->number);
    number[0] = mst_row_merge_list(&merge, 0, at->num_rows, s->gradients.workspace, number + 1);
    mst_row_merge_sum(&merge, number + 1, 0, number[0], s->gradients.workspace, mst_tensor_data(at->sum));
    return MST_OK;
}

/* Multiplies COUNT elements of a sum by FACTOR. */
static void scale(mst_dtype dtype, void *data, int64_t count, double factor) {
    float *f32 = data;
    double *f64 = data;
    for (int64_t i = 0; i < count; i++)
        if (dtype == MST_F64)
            f64[i] *= factor;
        else
            f32[i] *= (float)factor;
}

/* Scales the sum of V by FACTOR, and its sums of squares by the square of FACTOR. */
static void scale_sum(const mst_server_variable *v, double factor) {
    char *data = mst_tensor_data(v->sum);
    if (!v->is_sparse) {
        scale(v->spec.dtype, data, mst_tensor_count(v->sum), factor);
        return;
    }
    const int64_t rows = *(const int64_t *)mst_tensor_data(v->number),
                  own = v->has_squares ? v->columns / 2 : v->columns;
    const size_t size = mst_dtype_size(v->spec.dtype);
    for (int64_t i = 0; i < rows; i++, data += row_bytes(v)) {
        scale(v->spec.dtype, data, own, factor);
        scale(v->spec.dtype, data + (size_t)own * size, v->columns - own, factor * factor);
    }
}

static mst_status add_up(mst_server *s, int32_t count) {
    for (int32_t v = 0; v < s->variables.count; v++) {
        const mst_server_variable *at = &s->variables.at[v];
        if (at->is_sparse) {
            MST_TRY(sum_rows(s, v));
        } else {
            set_terms(s, v);
            mst_tree_sum(at->spec.dtype, s->gradients.terms, s->gradients.leaf, s->gradients.first_leaf[s->num_workers],
                         (int32_t)s->job.num_shards, 0, mst_tensor_count(at->sum), mst_tensor_data(at->sum));
        }
        if (count < s->num_workers && !at->adds) scale_sum(at, (double)s->num_workers / count);
    }
    return MST_OK;
}

mst_status mst_server_add_up(mst_server *s, int32_t count) {
    const uint64_t mode = mst_flush_denormals(); /* as in the sums of one process */
    const mst_status status = add_up(s, count);
    mst_float_mode_set(mode);
    return status;
}

mst_status mst_server_take_alone(mst_server *s, int32_t worker) {
    for (int32_t v = 0; v < s->variables.count; v++) {
        mst_server_variable *at = &s->variables.at[v];
        const mst_server_piece piece =
            s->gradients.piece[(ptrdiff_t)s->gradients.first_leaf[worker] * s->variables.count + v];
        if (!at->is_sparse) {
            MST_TRY(
                mst_tensor_wrap(at->spec.dtype, at->spec.shape, (void *)(uintptr_t)piece.data, NULL, NULL, &at->sum));
            s->gradients.feed[at->feed].tensor = at->sum;
            continue;
        }
        const int64_t rows = piece.number[0];
        MST_TRY(make_room_for_rows(s, at, rows));
        memcpy(mst_tensor_data(at->sum), piece.data, (size_t)rows * row_bytes(at));
        memcpy(mst_tensor_data(at->number), piece.number, (size_t)(1 + rows) * sizeof rows);
    }
    return MST_OK;
}

void mst_server_leave_alone(mst_server *s) {
    for (int32_t v = 0; v < s->variables.count; v++) {
        mst_server_variable *at = &s->variables.at[v];
        if (at->is_sparse) continue;
        mst_tensor_release(at->sum);
        s->gradients.feed[at->feed].tensor = at->sum = NULL;
    }
}

/* ---- memory ---- */

/* Allocates memory for sums over LEAVES leaves, and for sums of rows. */
static mst_status make_sums(mst_server *s, int32_t leaves) {
    mst_server_gradients *g = &s->gradients;
    size_t most = 0;
    for (int32_t v = 0; v < s->variables.count; v++) {
        const mst_server_variable *at = &s->variables.at[v];
        const mst_row_merge merge = {.dtype = at->spec.dtype,
                                     .columns = at->columns,
                                     .num_shards = (int32_t)s->job.num_shards,
                                     .num_leaves = leaves,
                                     .leaf = g->leaf};
        const size_t bytes = at->is_sparse && s->job.synchronous ? mst_row_merge_workspace(&merge) : 0;
        if (bytes > most) most = bytes;
    }
    g->zero = calloc(1, s->variables.bytes + sizeof(int64_t));
    g->terms = calloc(2 * (size_t)leaves + 1, sizeof *g->terms);
    g->piece = calloc((size_t)leaves * (size_t)s->variables.count + 1, sizeof *g->piece);
    g->workspace = malloc(most + 1);
    return g->zero && g->terms && g->piece && g->workspace ? MST_OK : MST_NO_MEMORY("for gradients");
}

mst_status mst_server_make_leaves(mst_server *s) {
    enum { MOST = 1 << 20 };
    mst_server_gradients *g = &s->gradients;
    const int64_t shards = s->job.num_shards;
    if (shards < s->num_workers || shards > MOST)
        return MST_FAIL(MST_INVALID, "%lld shards are too few or too many for %d workers", (long long)shards,
                        (int)s->num_workers);
    if (s->job.aggregate == 0) s->job.aggregate = s->num_workers;
    if (s->job.aggregate < 1 || s->job.aggregate > s->num_workers)
        return MST_FAIL(MST_INVALID, "an update cannot wait for the gradients of %lld of %d workers",
                        (long long)s->job.aggregate, (int)s->num_workers);
    g->leaf = calloc((size_t)shards, sizeof *g->leaf);
    g->first_leaf = calloc((size_t)s->num_workers + 1, sizeof *g->first_leaf);
    if (!g->leaf || !g->first_leaf) return MST_NO_MEMORY("for %lld shards", (long long)shards);
    int32_t count = 0;
    for (int32_t w = 0; w < s->num_workers; w++) {
        g->first_leaf[w] = count;
        int32_t first = (int32_t)mst_part_begin(shards, s->num_workers, w);
        const int32_t end = (int32_t)mst_part_begin(shards, s->num_workers, w + 1);
        if (!s->job.synchronous) count++;
        while (s->job.synchronous && first < end) {
            g->leaf[count] = mst_shards_within(first, end, (int32_t)shards);
            first += g->leaf[count++].count;
        }
    }
    g->first_leaf[s->num_workers] = count;
    return make_sums(s, count);
}

void mst_server_clear_gradients(mst_server *s) {
    mst_server_gradients *g = &s->gradients;
    free(g->feed);
    free(g->leaf);
    free(g->zero);
    free(g->terms);
    free(g->piece);
    free(g->workspace);
    free(g->first_leaf);
    *g = (mst_server_gradients){.leaf = NULL};
}
