/* Exchanges (collective/group.h): their memory, their routes, and a run of one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/denormal.h"
#include "base/no_memory.h"
#include "collective/group_thread.h"
#include "collective/tree_sum.h"
#include "tensor/buffer.h"

/* Up to this number of bytes of all leaves together, every member sends all its leaves to all others. Measured on an
 * AMD EPYC over inproc: 64 KiB between 2 members take 28 microseconds at once, and 57 in two steps. 256 KiB between 4
 * members take 330 microseconds at once, and 180 in two steps. */
enum { SMALL = 128 * 1024 };
/* Upper limit for the bytes of all values of an exchange. It is far beyond any memory, and small enough that products
 * with numbers of members do not overflow. */
static const int64_t MOST_BYTES = (int64_t)1 << 46;

/* ---- making ---- */

static void add_span(mst_exchange *x, mst_dtype dtype, int64_t first, int64_t bytes) {
    mst_dtype_span *last = x->num_spans ? &x->span[x->num_spans - 1] : NULL;
    if (last && last->dtype == dtype)
        last->bytes += bytes;
    else if (bytes)
        x->span[x->num_spans++] = (mst_dtype_span){first, bytes, dtype};
}

/* Lays the values side by side; SIZE: bytes of all of them. */
static mst_status lay_out(mst_exchange *x, const mst_exchange_spec *spec, int64_t *size) {
    *size = 0;
    for (int32_t i = 0; i < spec->num_values; i++) {
        const mst_exchange_value *v = &spec->value[i];
        if (v->dtype != MST_F32 && v->dtype != MST_F64 && v->dtype != MST_I32 && v->dtype != MST_I64)
            return MST_FAIL(MST_INVALID, "value %d of an exchange is %s: only f32, f64, i32 and i64 are summed", i,
                            mst_dtype_name(v->dtype));
        const int64_t element = (int64_t)mst_dtype_size(v->dtype);
        if (v->count < 0 || v->count > (MOST_BYTES - *size) / element)
            return MST_FAIL(MST_INVALID, "value %d of an exchange cannot have %lld elements", i, (long long)v->count);
        const int64_t bytes = (int64_t)mst_align((size_t)(v->count * element));
        x->offset[i] = *size;
        add_span(x, v->dtype, *size, bytes);
        *size += bytes;
    }
    /* an empty exchange sends something too, so that it is done only when all members have started it */
    if (*size == 0) *size = MST_ALIGNMENT;
    return MST_OK;
}

/* Finds where the parts of all members begin, and the member's own part of each value. */
static mst_status cut_parts(mst_exchange *x, const mst_exchange_spec *spec, int64_t size) {
    const int32_t members = x->base.group->num_members, self = x->base.group->self;
    x->own = calloc((size_t)spec->num_values + 1, sizeof *x->own);
    x->cut = calloc((size_t)members + 1, sizeof *x->cut);
    if (!x->own || !x->cut) return MST_NO_MEMORY("for an exchange of %d values", spec->num_values);
    for (int32_t m = 1; m <= members; m++) x->cut[m] = size;
    for (int32_t i = spec->num_values - 1; i >= 0; i--) {
        const int64_t *begin = spec->begin + (int64_t)i * (members + 1);
        const int64_t element = (int64_t)mst_dtype_size(spec->value[i].dtype);
        x->own[i] = x->offset[i] + begin[self] * element;
        for (int32_t m = 1; m < members; m++)
            if (begin[m] < spec->value[i].count) x->cut[m] = x->offset[i] + begin[m] * element;
    }
    for (int32_t i = 0; i < spec->num_values; i++) /* if the member has no part of a value: any valid offset will do */
        if (x->own[i] < x->cut[self] || x->own[i] > x->cut[self + 1]) x->own[i] = x->cut[self];
    return MST_OK;
}

/* Whether every member sends all its leaves to all others. All members must decide the same. */
static bool is_at_once(const mst_task_group *g, int64_t size) {
    return g->num_members <= MST_FEW_MEMBERS && size <= SMALL / g->stages.stage[0].num_nodes;
}

static void *array_of(int32_t count, size_t size) {
    return calloc(count > 0 ? (size_t)count : 1, size);
}

/* The number of bytes of message IN that steps of the group's thread add up. */
static int64_t bytes_summed(const mst_routes *r, int32_t in) {
    int64_t bytes = 0;
    for (int32_t i = 0; i < r->step[r->num_steps - 2].sums; i++)
        for (int32_t k = 0; k < r->sum[i].num_terms; k++)
            if (r->term[r->sum[i].first_term + k].in == in) bytes += r->sum[i].bytes;
    return bytes;
}

static mst_status make_pieces(mst_exchange *x) {
    const mst_routes *r = &x->routes;
    int32_t most_terms = 0;
    for (int32_t i = 0; i < r->num_sums; i++)
        if (r->sum[i].num_terms > most_terms) most_terms = r->sum[i].num_terms;
    x->iov = array_of(r->num_pieces, sizeof *x->iov);
    x->value = array_of(most_terms, sizeof *x->value);
    x->node = array_of(r->num_terms, sizeof *x->node);
    x->lent = array_of(r->num_ins, sizeof(mst_kept_part *));
    x->borrows = array_of(r->num_ins, sizeof *x->borrows);
    if (!x->iov || !x->value || !x->node || !x->lent || !x->borrows)
        return MST_NO_MEMORY("for the messages of an exchange");
    for (int32_t i = 0; i < r->num_pieces; i++)
        x->iov[i] = (mst_iov){x->memory + r->piece[i].at, (size_t)r->piece[i].bytes};
    for (int32_t i = 0; i < r->num_terms; i++) x->node[i] = r->term[i].node;
    for (int32_t i = 0; i < r->num_ins; i++) x->borrows[i] = bytes_summed(r, i) == r->in[i].bytes;
    return MST_OK;
}

static size_t num_timelines(const mst_exchange *x) {
    return (size_t)x->routes.num_ins + (size_t)x->routes.num_steps + 1;
}

static mst_status make_timelines(mst_exchange *x) {
    const size_t bytes = num_timelines(x) * sizeof *x->arrived;
    x->arrived = aligned_alloc(_Alignof(mst_timeline), bytes);
    if (!x->arrived) return MST_NO_MEMORY("for the messages of an exchange");
    memset(x->arrived, 0, bytes);
    x->ready = x->arrived + x->routes.num_ins;
    x->finished = x->ready + x->routes.num_steps;
    return MST_OK;
}

/* Counts how many messages the thread and the caller wait for. */
static void count_messages(mst_exchange *x) {
    const mst_routes *r = &x->routes;
    x->last = r->num_steps - 1;
    x->news = (uint64_t)r->step[x->last - 1].ins;
    x->due = (uint64_t)(r->num_ins - r->step[x->last - 1].ins + r->num_outs);
    if (x->last == 1) return;
    x->due++; /* the thread raises `finished` too, when it has made its last step */
    /* step 1 receives nothing: the start of the exchange wakes the thread instead of a message */
    if (r->step[1].ins == 0) x->news++;
}

/* Allocates memory of the transport, if it has any: bytes sent from it need no copy. */
static mst_status alloc_memory(mst_exchange *x) {
    const mst_task_group *g = x->base.group;
    const size_t bytes = (size_t)x->routes.memory;
    void *memory = g->num_members > 1 && g->type->memory ? g->type->memory->alloc(g->transport, bytes) : NULL;
    x->is_shared = memory != NULL;
    if (!memory) MST_TRY(mst_pages_alloc(bytes, &memory));
    x->memory = memory;
    return MST_OK;
}

static mst_status make_routes(mst_exchange *x, const mst_exchange_spec *spec, int64_t size) {
    const mst_task_group *g = x->base.group;
    if (x->kind == MST_EXCHANGE_SUM) {
        x->sum_at = size * mst_group_leaves(g, g->self, NULL);
        return mst_routes_make(&g->stages, g->self, size, is_at_once(g, size), &x->routes);
    }
    MST_TRY(cut_parts(x, spec, size));
    if (x->kind == MST_EXCHANGE_GATHER) return mst_routes_make_gather(&g->stages, g->self, size, x->cut, &x->routes);
    MST_TRY(mst_routes_make_scatter(&g->stages, g->self, size, x->cut, &x->routes, &x->sum_at));
    x->sum_at -= x->cut[g->self];
    return MST_OK;
}

static mst_status make_exchange(mst_exchange *x, const mst_exchange_spec *spec) {
    int64_t size;
    x->kind = spec->kind;
    mst_exchange_base_make(&x->base, spec->name, spec->hash, spec->stream);
    x->num_values = spec->num_values;
    x->offset = array_of(spec->num_values, sizeof *x->offset);
    x->span = array_of(spec->num_values, sizeof *x->span);
    if (!x->offset || !x->span) return MST_NO_MEMORY("for an exchange of %d values", spec->num_values);
    MST_TRY(lay_out(x, spec, &size));
    MST_TRY(make_routes(x, spec, size));
    MST_TRY(alloc_memory(x));
    MST_TRY(make_pieces(x));
    MST_TRY(make_timelines(x));
    count_messages(x);
    return MST_OK;
}

static void free_exchange(mst_exchange *x) {
    if (x->is_shared)
        x->base.group->type->memory->free(x->base.group->transport, x->memory);
    else
        mst_pages_free(x->memory, (size_t)x->routes.memory);
    mst_routes_free(&x->routes);
    free(x->offset);
    free(x->own);
    free(x->cut);
    free(x->span);
    free(x->iov);
    free(x->value);
    free(x->node);
    free(x->lent);
    free(x->borrows);
    free(x->arrived);
    free(x);
}

mst_status mst_exchange_create(mst_task_group *group, const mst_exchange_spec *spec, mst_exchange **out) {
    mst_exchange *x = calloc(1, sizeof *x);
    if (!x) return MST_NO_MEMORY("for an exchange of %d values", spec->num_values);
    x->base.group = group;
    const mst_status status = make_exchange(x, spec);
    if (status)
        free_exchange(x);
    else
        *out = x;
    return status;
}

void mst_exchange_destroy(mst_exchange *x) {
    if (!x) return;
    if (x->base.started && mst_timeline_value(x->finished) < x->due) {
        mst_exchange_give_up(&x->base);
        mst_timeline_wait(x->finished, x->due, MST_NEVER, false);
    }
    free_exchange(x);
}

void *mst_exchange_leaf(const mst_exchange *x, int32_t leaf, int32_t value) {
    return x->memory + x->routes.size * leaf + (x->kind == MST_EXCHANGE_GATHER ? x->own : x->offset)[value];
}

void *mst_exchange_sum(const mst_exchange *x, int32_t value) {
    return x->memory + x->sum_at + (x->kind == MST_EXCHANGE_SCATTER ? x->own : x->offset)[value];
}

/* ---- steps ---- */

/* The BYTES bytes of a term from its byte FIRST on. A lent message may have them in several parts, or unaligned: then
 * they are copied to the term's place in the exchange's memory. */
static void *term_data(const mst_exchange *x, const mst_route_term *term, int64_t first, int64_t bytes) {
    char *place = x->memory + term->at + first;
    if (term->in < 0) return place;
    const size_t from = (size_t)(term->at + first - x->routes.in[term->in].at), end = from + (size_t)bytes;
    for (const mst_kept_part *k = x->lent[term->in]; k; k = k->next) {
        const size_t k_end = k->offset + k->bytes, low = from > k->offset ? from : k->offset;
        if (low >= end || low >= k_end) continue;
        char *data = (char *)(uintptr_t)k->data + (low - k->offset);
        if (low == from && end <= k_end && (uintptr_t)data % _Alignof(int64_t) == 0) return data;
        memcpy(place + (low - from), data, (end < k_end ? end : k_end) - low);
    }
    return place;
}

/* Makes a sum, separately for each range of bytes of one dtype. */
static void make_sum(mst_exchange *x, const mst_route_sum *sum) {
    const mst_route_term *term = x->routes.term + sum->first_term;
    for (int32_t i = 0; i < x->num_spans; i++) {
        const mst_dtype_span *s = &x->span[i];
        const int64_t first = s->first > sum->first ? s->first : sum->first;
        const int64_t s_end = s->first + s->bytes, sum_end = sum->first + sum->bytes;
        const int64_t bytes = (s_end < sum_end ? s_end : sum_end) - first;
        if (bytes <= 0) continue;
        for (int32_t k = 0; k < sum->num_terms; k++)
            x->value[k].data = term_data(x, &term[k], first - sum->first, bytes);
        mst_tree_sum(s->dtype, x->value, x->node + sum->first_term, sum->num_terms, x->base.group->num_shards, 0,
                     bytes / (int64_t)mst_dtype_size(s->dtype), x->memory + sum->at + first - sum->first);
    }
}

static void post(mst_exchange *x, int32_t i, bool borrows) {
    const mst_route_in *in = &x->routes.in[i];
    mst_group_post(x->base.group, in->member, mst_exchange_key(&x->base, in->serial), x->memory + in->at,
                   (size_t)in->bytes, borrows ? &x->lent[i] : NULL, &x->arrived[i]);
}

void mst_exchange_return(mst_exchange *x, int32_t first, int32_t end) {
    for (int32_t i = first; i < end; i++) {
        mst_kept_parts_release(x->lent[i]);
        x->lent[i] = NULL;
    }
}

/* Handles message I, which cannot be added up because its sender's generation has ended. Posts memory for the message
 * again. The message never comes, so the post is done when the generation ends here. */
static void await_end(mst_exchange *x, int32_t i) {
    mst_task_group *g = x->base.group;
    pthread_mutex_lock(&g->lock);
    x->torn++;
    g->news_due++;
    pthread_mutex_unlock(&g->lock);
    post(x, i, false);
}

bool mst_exchange_sum_step(mst_exchange *x, int32_t step) {
    const mst_route_step *now = &x->routes.step[step], *before = now - 1;
    bool good = true;
    for (int32_t i = before->sums; i < now->sums; i++) make_sum(x, &x->routes.sum[i]);
    for (int32_t i = before->ins; i < now->ins; i++) {
        const bool intact = mst_kept_parts_are_intact(x->lent[i], x->base.generation);
        mst_exchange_return(x, i, i + 1);
        if (!intact) await_end(x, i);
        good = good && intact;
    }
    return good;
}

void mst_exchange_send_step(mst_exchange *x, int32_t step) {
    const int32_t end = x->routes.step[step].outs;
    for (int32_t i = step > 0 ? x->routes.step[step - 1].outs : 0; i < end; i++) {
        const mst_route_out *out = &x->routes.out[i];
        mst_group_send(x->base.group, out->member, mst_exchange_key(&x->base, out->serial), x->iov + out->first_piece,
                       out->num_pieces, x->finished);
    }
}

static void post_all(mst_exchange *x) {
    for (int32_t i = 0; i < x->routes.num_ins; i++) post(x, i, x->borrows[i]);
}

/* ---- a run ---- */

/* Sets all timelines to 0, and connects them for the next run. Nobody uses them now, since the previous run is over. */
static void reset_timelines(mst_exchange *x) {
    const mst_routes *r = &x->routes;
    memset(x->arrived, 0, num_timelines(x) * sizeof *x->arrived);
    x->finished->event = x->base.group->event + 1;
    for (int32_t step = 1; step < r->num_steps; step++) {
        const bool by_thread = step < x->last;
        x->ready[step].also = &x->base.group->news;
        for (int32_t i = r->step[step - 1].ins; i < r->step[step].ins; i++)
            x->arrived[i].also = by_thread ? &x->ready[step] : x->finished;
    }
}

/* Puts X on the thread's list; false if no generation is under way. */
static bool enter(mst_exchange *x, uint64_t run) {
    mst_task_group *g = x->base.group;
    pthread_mutex_lock(&g->lock);
    x->step = 1;
    x->in_work = false;
    x->torn = 0;
    x->next = NULL;
    const bool on = mst_exchange_begin(&x->base, run);
    if (on && x->last > 1) {
        *g->last = x;
        g->last = &x->next;
        g->news_due += x->news;
    }
    pthread_mutex_unlock(&g->lock);
    return on;
}

void mst_exchange_start(mst_exchange *x, uint64_t run) {
    reset_timelines(x);
    if (!enter(x, run)) {
        mst_timeline_advance(x->finished, x->due);
        return;
    }
    if (x->last > 1 && x->routes.step[1].ins == 0) mst_timeline_add(&x->base.group->news, 1);
    post_all(x);
    mst_exchange_send_step(x, 0);
}

/* The error after the deadline. Names the members for whose messages the earliest unfinished step waits. Members that
 * only later steps need may themselves wait for this member. */
static mst_status too_late(const mst_exchange *x) {
    char list[256] = "";
    const mst_routes *r = &x->routes;
    int32_t count = 0;
    for (int32_t step = 1; step < r->num_steps && count == 0; step++)
        for (int32_t i = r->step[step - 1].ins; i < r->step[step].ins; i++) {
            if (mst_timeline_value(&x->arrived[i]) > 0) continue;
            const size_t length = strlen(list);
            snprintf(list + length, sizeof list - length, "%s%d", count++ ? ", " : "", r->in[i].member);
        }
    if (count == 0)
        return MST_FAIL(MST_DEADLINE, "exchange %u of run %llu: waited too long until all was sent and added up",
                        x->base.stream, (unsigned long long)x->base.run);
    return MST_FAIL(MST_DEADLINE, "exchange %u of run %llu: waited too long, nothing has come from member%s %s",
                    x->base.stream, (unsigned long long)x->base.run, count > 1 ? "s" : "", list);
}

mst_status mst_exchange_wait(mst_exchange *x, int64_t deadline) {
    if (!mst_group_wait(x->base.group, x->finished, x->due, deadline)) return too_late(x);
    MST_TRY(mst_group_check_generation(x->base.group, x->base.generation));
    const uint64_t mode = mst_flush_denormals();
    mst_exchange_sum_step(x, x->last);
    mst_float_mode_set(mode);
    return MST_OK;
}
