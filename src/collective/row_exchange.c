#include "collective/row_exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/denormal.h"
#include "base/no_memory.h"
#include "collective/group_thread.h"
#include "kernel/row_merge.h"
#include "tensor/buffer.h"

/* Upper limit for the bytes of all variables of an exchange. It is far beyond any memory, and small enough that
 * products with numbers of leaves do not overflow. */
static const int64_t MOST_BYTES = (int64_t)1 << 46;

/* The two messages from each member to each other one. */
enum { COUNTS, ROWS, NUM_MESSAGES };

struct mst_row_exchange {
    mst_exchange_base base;
    int32_t num_values, num_leaves;
    mst_row_exchange_value *value;
    int64_t leaf_bytes, sum_bytes; /* bytes of all arrays: of a leaf; of the sum */
    int64_t *offset;               /* [2 * num_values]: offset of each array in a leaf */
    int64_t *sum_offset;           /* [2 * num_values]: offset of each array in the sum */
    char *memory;                  /* this member's leaves, then the sum */
    int32_t *first_leaf;           /* [members + 1]: index of each member's first leaf among the leaves of all */
    mst_shards *node;              /* [leaves of all] */
    int64_t *count;                /* [leaves of all][num_values]: number of rows */
    int64_t **number;              /* [leaves of all][num_values]: number of rows, then the number of each row */
    mst_array *src;                /* [leaves of all][2]: the two arrays of the value that is being added up */
    char *landed;                  /* received rows of the other members */
    int64_t landed_capacity;
    void *workspace;
    mst_iov *iov;          /* [num_leaves][num_values][2]: the rows that are sent */
    mst_timeline *arrived; /* [NUM_MESSAGES][members] */
    mst_timeline *sent;
    uint64_t num_sent;
    bool posted_rows; /* of the run */
};

/* ---- making ---- */

static int64_t row_bytes(const mst_row_exchange_value *v, int64_t rows) {
    return rows * v->columns * (int64_t)mst_dtype_size(v->dtype);
}

/* Bytes of ROWS rows in a message: a multiple of 8, since numbers follow them. */
static int64_t sent_bytes(const mst_row_exchange_value *v, int64_t rows) {
    return (row_bytes(v, rows) + 7) / 8 * 8;
}

static int64_t number_bytes(int64_t rows) {
    return (1 + rows) * (int64_t)sizeof(int64_t);
}

static mst_status check_value(const mst_row_exchange_value *v, int32_t i, int64_t *left) {
    if (v->dtype != MST_F32 && v->dtype != MST_F64)
        return MST_FAIL(MST_INVALID, "value %d of a row exchange is %s: only rows of f32 and f64 are summed", i,
                        mst_dtype_name(v->dtype));
    const bool wide = v->columns < 0 || v->columns > *left / (int64_t)sizeof(double);
    const int64_t each = wide ? 1 : row_bytes(v, 1) + (int64_t)sizeof(int64_t);
    if (wide || v->most < 0 || v->most > v->num_rows || v->num_rows >= *left / each)
        return MST_FAIL(MST_INVALID, "value %d of a row exchange cannot have %lld of %lld rows of %lld elements", i,
                        (long long)v->most, (long long)v->num_rows, (long long)v->columns);
    *left -= row_bytes(v, v->num_rows) + number_bytes(v->num_rows);
    return MST_OK;
}

/* Lays out the two arrays of value V of a gradient, with at most ROWS rows, from *END on. */
static void add_arrays(const mst_row_exchange_value *v, int64_t rows, int64_t *offset, int64_t *end) {
    offset[0] = *end;
    offset[1] = offset[0] + (int64_t)mst_align((size_t)sent_bytes(v, rows));
    *end = offset[1] + (int64_t)mst_align((size_t)number_bytes(rows));
}

static mst_status lay_out(mst_row_exchange *x) {
    int64_t left = MOST_BYTES;
    for (int32_t i = 0; i < x->num_values; i++) {
        MST_TRY(check_value(&x->value[i], i, &left));
        add_arrays(&x->value[i], x->value[i].most, &x->offset[2 * i], &x->leaf_bytes);
        add_arrays(&x->value[i], x->value[i].num_rows, &x->sum_offset[2 * i], &x->sum_bytes);
    }
    void *memory;
    MST_TRY(mst_pages_alloc((size_t)(x->leaf_bytes * x->num_leaves + x->sum_bytes), &memory));
    x->memory = memory;
    return MST_OK;
}

/* Replaces the memory for the rows of other members. Nobody may be using it. */
static mst_status make_landing(mst_row_exchange *x, int64_t bytes) {
    void *memory;
    mst_pages_free(x->landed, (size_t)x->landed_capacity);
    x->landed = NULL;
    x->landed_capacity = 0;
    MST_TRY(mst_pages_alloc((size_t)bytes, &memory));
    x->landed = memory;
    x->landed_capacity = bytes;
    return MST_OK;
}

/* An estimate of the bytes to receive, which assumes that a shard of another member has as many rows as a shard of this
 * member. */
static int64_t bytes_to_expect(const mst_row_exchange *x) {
    const mst_task_group *g = x->base.group;
    const int32_t own = g->window[g->self].count, others = g->num_shards - own;
    int64_t leaf = 0;
    for (int32_t v = 0; v < x->num_values; v++)
        leaf += number_bytes(x->value[v].most) + sent_bytes(&x->value[v], x->value[v].most);
    const int64_t shard = leaf * x->num_leaves / own + 1, most = MOST_BYTES / (others + 1);
    return (shard < most ? shard : most) * others;
}

static void find_leaves(mst_row_exchange *x) {
    const mst_task_group *g = x->base.group;
    for (int32_t m = 0; m < g->num_members; m++)
        x->first_leaf[m + 1] = x->first_leaf[m] + mst_group_leaves(g, m, x->node + x->first_leaf[m]);
}

static mst_status make_timelines(mst_row_exchange *x) {
    const size_t count = (size_t)NUM_MESSAGES * (size_t)x->base.group->num_members;
    x->arrived = aligned_alloc(_Alignof(mst_timeline), (count + 1) * sizeof *x->arrived);
    if (!x->arrived) return MST_NO_MEMORY("for the messages of a row exchange");
    x->sent = x->arrived + count;
    x->num_sent = NUM_MESSAGES * (uint64_t)(x->base.group->num_members - 1);
    return MST_OK;
}

/* The description of how the rows of value V are added up. */
static mst_row_merge merge_of(const mst_row_exchange *x, int32_t v) {
    return (mst_row_merge){.dtype = x->value[v].dtype,
                           .columns = x->value[v].columns,
                           .num_shards = x->base.group->num_shards,
                           .num_leaves = x->first_leaf[x->base.group->num_members],
                           .leaf = x->node,
                           .src = x->src};
}

static mst_status make_workspace(mst_row_exchange *x) {
    size_t most = 1;
    for (int32_t v = 0; v < x->num_values; v++) {
        const mst_row_merge merge = merge_of(x, v);
        const size_t bytes = mst_row_merge_workspace(&merge);
        if (bytes > most) most = bytes;
    }
    return mst_buffer_alloc(most, &x->workspace);
}

static mst_status make_exchange(mst_row_exchange *x, const mst_row_exchange_spec *spec) {
    const mst_task_group *g = x->base.group;
    const size_t values = (size_t)spec->num_values, all = (size_t)g->stages.stage[0].num_nodes;
    mst_exchange_base_make(&x->base, spec->name, spec->hash, spec->stream);
    x->num_values = spec->num_values;
    x->num_leaves = mst_group_leaves(g, g->self, NULL);
    x->value = calloc(values + 1, sizeof *x->value);
    x->offset = calloc(2 * values + 1, sizeof *x->offset);
    x->sum_offset = calloc(2 * values + 1, sizeof *x->sum_offset);
    x->first_leaf = calloc((size_t)g->num_members + 1, sizeof *x->first_leaf);
    x->node = calloc(all, sizeof *x->node);
    x->count = calloc(all * values + 1, sizeof *x->count);
    x->number = calloc(all * values + 1, sizeof *x->number);
    x->src = calloc(2 * all, sizeof *x->src);
    x->iov = calloc(2 * (size_t)x->num_leaves * values + 1, sizeof *x->iov);
    if (!x->value || !x->offset || !x->sum_offset || !x->first_leaf || !x->node || !x->count || !x->number || !x->src ||
        !x->iov)
        return MST_NO_MEMORY("for a row exchange of %d values", spec->num_values);
    memcpy(x->value, spec->value, values * sizeof *x->value);
    MST_TRY(lay_out(x));
    find_leaves(x);
    MST_TRY(make_landing(x, bytes_to_expect(x)));
    MST_TRY(make_timelines(x));
    return make_workspace(x);
}

static void free_exchange(mst_row_exchange *x) {
    mst_pages_free(x->memory, (size_t)(x->leaf_bytes * x->num_leaves + x->sum_bytes));
    mst_pages_free(x->landed, (size_t)x->landed_capacity);
    mst_buffer_free(x->workspace);
    free(x->value);
    free(x->offset);
    free(x->sum_offset);
    free(x->first_leaf);
    free(x->node);
    free(x->count);
    free(x->number);
    free(x->src);
    free(x->iov);
    free(x->arrived);
    free(x);
}

mst_status mst_row_exchange_create(mst_task_group *group, const mst_row_exchange_spec *spec, mst_row_exchange **out) {
    mst_row_exchange *x = calloc(1, sizeof *x);
    if (!x) return MST_NO_MEMORY("for a row exchange of %d values", spec->num_values);
    x->base.group = group;
    const mst_status status = make_exchange(x, spec);
    if (status)
        free_exchange(x);
    else
        *out = x;
    return status;
}

void *mst_row_exchange_leaf(const mst_row_exchange *x, int32_t leaf, int32_t array) {
    return x->memory + x->leaf_bytes * leaf + x->offset[array];
}

void *mst_row_exchange_sum(const mst_row_exchange *x, int32_t array) {
    return x->memory + x->leaf_bytes * x->num_leaves + x->sum_offset[array];
}

/* ---- messages ---- */

static mst_timeline *arrival(const mst_row_exchange *x, int message, int32_t member) {
    return &x->arrived[message * x->base.group->num_members + member];
}

static void post(mst_row_exchange *x, int message, int32_t member, void *into, int64_t bytes) {
    mst_group_post(x->base.group, member, mst_exchange_key(&x->base, (uint32_t)message), into, (size_t)bytes, NULL,
                   arrival(x, message, member));
}

static void send_all(mst_row_exchange *x, int message, const mst_iov *piece, int n) {
    for (int32_t m = 0; m < x->base.group->num_members; m++)
        if (m != x->base.group->self)
            mst_group_send(x->base.group, m, mst_exchange_key(&x->base, (uint32_t)message), piece, n, x->sent);
}

/* The counts of a member in memory. */
static int64_t *counts_of(const mst_row_exchange *x, int32_t member) {
    return x->count + (int64_t)x->first_leaf[member] * x->num_values;
}

static int64_t count_bytes(const mst_row_exchange *x, int32_t member) {
    const int64_t leaves = x->first_leaf[member + 1] - x->first_leaf[member];
    return leaves * x->num_values * (int64_t)sizeof *x->count;
}

/* ---- a run ---- */

/* Begins the run; false if no generation is under way. */
static bool enter(mst_row_exchange *x, uint64_t run) {
    mst_task_group *g = x->base.group;
    pthread_mutex_lock(&g->lock);
    x->posted_rows = false;
    const bool on = mst_exchange_begin(&x->base, run);
    pthread_mutex_unlock(&g->lock);
    return on;
}

/* Sets all timelines to their final values: nothing is sent, and nothing will come. */
static void skip_all(mst_row_exchange *x) {
    for (int32_t m = 0; m < x->base.group->num_members; m++) mst_timeline_advance(arrival(x, COUNTS, m), 1);
    mst_timeline_advance(x->sent, x->num_sent);
}

/* Lists this member's counts and rows, which are sent without a copy. */
static void gather_own(mst_row_exchange *x) {
    const int32_t first = x->first_leaf[x->base.group->self];
    mst_iov *iov = x->iov;
    for (int32_t l = 0; l < x->num_leaves; l++)
        for (int32_t v = 0; v < x->num_values; v++) {
            char *rows = mst_row_exchange_leaf(x, l, 2 * v);
            const int64_t *number = mst_row_exchange_leaf(x, l, 2 * v + 1), count = number[0];
            const int64_t bytes = row_bytes(&x->value[v], count), sent = sent_bytes(&x->value[v], count);
            memset(rows + bytes, 0, (size_t)(sent - bytes));
            x->count[(int64_t)(first + l) * x->num_values + v] = count;
            *iov++ = (mst_iov){number, (size_t)number_bytes(count)};
            *iov++ = (mst_iov){rows, (size_t)sent};
        }
}

void mst_row_exchange_start(mst_row_exchange *x, uint64_t run) {
    const mst_task_group *g = x->base.group;
    const size_t num_timelines = NUM_MESSAGES * (size_t)g->num_members + 1;
    memset(x->arrived, 0, num_timelines * sizeof *x->arrived);
    for (size_t i = 0; i < num_timelines; i++) x->arrived[i].event = g->event + 1;
    if (!enter(x, run)) {
        skip_all(x);
        return;
    }
    gather_own(x);
    for (int32_t m = 0; m < g->num_members; m++)
        if (m != g->self) post(x, COUNTS, m, counts_of(x, m), count_bytes(x, m));
    const mst_iov counts = {counts_of(x, g->self), (size_t)count_bytes(x, g->self)};
    send_all(x, COUNTS, &counts, 1);
    send_all(x, ROWS, x->iov, 2 * x->num_leaves * x->num_values);
}

/* ---- waiting ---- */

static bool has_arrived(const mst_row_exchange *x, int message, int32_t member) {
    return member == x->base.group->self || mst_timeline_value(arrival(x, message, member)) > 0;
}

static mst_status too_late(const mst_row_exchange *x, int message) {
    char list[256] = "";
    int32_t count = 0;
    for (int32_t m = 0; m < x->base.group->num_members; m++) {
        if (has_arrived(x, message, m)) continue;
        const size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s%d", count++ ? ", " : "", m);
    }
    return MST_FAIL(MST_DEADLINE, "exchange %u of run %llu: waited too long, no %s come from member%s %s",
                    x->base.stream, (unsigned long long)x->base.run,
                    message == ROWS ? "rows have" : "number of rows has", count > 1 ? "s" : "", list);
}

static mst_status await(mst_row_exchange *x, int message, int64_t deadline) {
    for (int32_t m = 0; m < x->base.group->num_members; m++)
        if (m != x->base.group->self && !mst_group_wait(x->base.group, arrival(x, message, m), 1, deadline))
            return too_late(x, message);
    return mst_group_check_generation(x->base.group, x->base.generation);
}

/* Checks how many rows the leaves of MEMBER have, and adds the bytes of its message to *BYTES. */
static mst_status check_counts(const mst_row_exchange *x, int32_t member, int64_t *bytes) {
    const int64_t *count = counts_of(x, member);
    for (int32_t l = x->first_leaf[member]; l < x->first_leaf[member + 1]; l++)
        for (int32_t v = 0; v < x->num_values; v++, count++) {
            if (*count < 0 || *count > x->value[v].num_rows)
                return MST_FAIL(MST_INVALID,
                                "exchange %u of run %llu: member %d says that it sends %lld rows of a variable of %lld",
                                x->base.stream, (unsigned long long)x->base.run, member, (long long)*count,
                                (long long)x->value[v].num_rows);
            *bytes += number_bytes(*count) + sent_bytes(&x->value[v], *count);
        }
    return MST_OK;
}

/* Sets the addresses of the rows of MEMBER, whose message will be at DATA; returns the end of the message. */
static char *place_rows(mst_row_exchange *x, int32_t member, char *data) {
    const int64_t end = (int64_t)x->first_leaf[member + 1] * x->num_values;
    for (int64_t k = (int64_t)x->first_leaf[member] * x->num_values; k < end; k++) {
        x->number[k] = (int64_t *)(void *)data;
        data += number_bytes(x->count[k]) + sent_bytes(&x->value[k % x->num_values], x->count[k]);
    }
    return data;
}

/* Posts memory for the rows of all members, whose counts have come. */
static mst_status post_rows(mst_row_exchange *x) {
    const mst_task_group *g = x->base.group;
    int64_t bytes = 0;
    for (int32_t m = 0; m < g->num_members; m++)
        if (m != g->self) MST_TRY(check_counts(x, m, &bytes));
    if (bytes > x->landed_capacity) MST_TRY(make_landing(x, bytes + bytes / 2));
    x->posted_rows = true;
    char *at = x->landed;
    for (int32_t m = 0; m < g->num_members; m++) {
        if (m == g->self) continue;
        char *end = place_rows(x, m, at);
        post(x, ROWS, m, at, end - at);
        at = end;
    }
    return MST_OK;
}

static int32_t member_of(const mst_row_exchange *x, int64_t leaf) {
    int32_t member = 0;
    while (x->first_leaf[member + 1] <= leaf) member++;
    return member;
}

/* Checks received gradient K, which is value K % num_values of leaf K / num_values: its row numbers must be rows of the
 * variable, and ascend. */
static mst_status check_numbers(const mst_row_exchange *x, int64_t k) {
    const int64_t *number = x->number[k], num_rows = x->value[k % x->num_values].num_rows;
    bool right = number[0] == x->count[k];
    for (int64_t i = 1, last = -1; i <= x->count[k] && right; last = number[i++])
        right = number[i] > last && number[i] < num_rows;
    if (right) return MST_OK;
    return MST_FAIL(
        MST_INVALID,
        "exchange %u of run %llu: what member %d has sent are no ascending numbers of rows of a variable of "
        "%lld rows",
        x->base.stream, (unsigned long long)x->base.run, member_of(x, k / x->num_values), (long long)num_rows);
}

static mst_status check_rows(const mst_row_exchange *x) {
    const int32_t *first = x->first_leaf, self = x->base.group->self;
    const int64_t all = (int64_t)first[x->base.group->num_members] * x->num_values;
    for (int64_t k = 0; k < all; k++)
        if (k / x->num_values < first[self] || k / x->num_values >= first[self + 1]) MST_TRY(check_numbers(x, k));
    return MST_OK;
}

static mst_status receive_all(mst_row_exchange *x, int64_t deadline) {
    MST_TRY(await(x, COUNTS, deadline));
    if (!x->posted_rows) MST_TRY(post_rows(x));
    MST_TRY(await(x, ROWS, deadline));
    if (!mst_group_wait(x->base.group, x->sent, x->num_sent, deadline))
        return MST_FAIL(MST_DEADLINE, "exchange %u of run %llu: waited too long until all was sent", x->base.stream,
                        (unsigned long long)x->base.run);
    MST_TRY(mst_group_check_generation(x->base.group, x->base.generation));
    return check_rows(x);
}

static void merge_value(mst_row_exchange *x, int32_t v) {
    const mst_row_merge merge = merge_of(x, v);
    const int32_t own = x->first_leaf[x->base.group->self];
    for (int32_t l = 0; l < merge.num_leaves; l++) {
        const bool here = l >= own && l < own + x->num_leaves;
        const int64_t k = (int64_t)l * x->num_values + v;
        int64_t *number = here ? mst_row_exchange_leaf(x, l - own, 2 * v + 1) : x->number[k];
        x->src[2 * l].data = here ? mst_row_exchange_leaf(x, l - own, 2 * v) : number + 1 + number[0];
        x->src[2 * l + 1].data = number;
    }
    int64_t *sum = mst_row_exchange_sum(x, 2 * v + 1);
    sum[0] = mst_row_merge_list(&merge, 0, x->value[v].num_rows, x->workspace, sum + 1);
    mst_row_merge_sum(&merge, sum + 1, 0, sum[0], x->workspace, mst_row_exchange_sum(x, 2 * v));
}

/* After the generation has ended: waits until the transport no longer uses the exchange's memory. */
static void wait_left(mst_row_exchange *x) {
    mst_timeline_wait(x->sent, x->num_sent, MST_NEVER, false);
    for (int32_t m = 0; m < x->base.group->num_members; m++) {
        if (m == x->base.group->self) continue;
        mst_timeline_wait(arrival(x, COUNTS, m), 1, MST_NEVER, false);
        if (x->posted_rows) mst_timeline_wait(arrival(x, ROWS, m), 1, MST_NEVER, false);
    }
}

void mst_row_exchange_destroy(mst_row_exchange *x) {
    if (!x) return;
    if (x->base.started) {
        mst_exchange_give_up(&x->base);
        wait_left(x);
    }
    free_exchange(x);
}

mst_status mst_row_exchange_wait(mst_row_exchange *x, int64_t deadline) {
    const mst_status status = receive_all(x, deadline);
    if (status == MST_DEADLINE) return status;
    x->base.started = false;
    if (status) {
        mst_failure failure;
        mst_failure_keep(&failure, status);
        mst_group_end_generation(x->base.group, x->base.generation, &failure);
        wait_left(x);
        return mst_failure_restore(&failure);
    }
    const uint64_t mode = mst_flush_denormals();
    for (int32_t v = 0; v < x->num_values; v++) merge_value(x, v);
    mst_float_mode_set(mode);
    return MST_OK;
}
