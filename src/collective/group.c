#include "collective/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "collective/group_thread.h"

/* ---- making ---- */

static mst_status check_windows(const mst_shards *window, int32_t num_members, int32_t num_shards) {
    int64_t next = 0;
    for (int32_t m = 0; m < num_members; m++) {
        if (window[m].first != next || window[m].count < 1)
            return MST_FAIL(MST_INVALID,
                            "member %d of a group has %d shards from %d: it must have at least one, from %lld", m,
                            window[m].count, window[m].first, (long long)next);
        next += window[m].count;
    }
    if (next == num_shards) return MST_OK;
    return MST_FAIL(MST_INVALID, "the members of a group have %lld of %d shards", (long long)next, num_shards);
}

static mst_status take_members(mst_task_group *g, const mst_group_options *o) {
    const size_t count = (size_t)o->num_members;
    int32_t *task = malloc(count * sizeof *task);
    mst_shards *window = malloc(count * sizeof *window);
    mst_stages stages = {0};
    mst_status status = task && window ? MST_OK : MST_NO_MEMORY("for a group of %d tasks", o->num_members);
    if (!status) status = check_windows(o->window, o->num_members, o->num_shards);
    if (!status) status = mst_stages_make(o->window, o->num_members, o->num_shards, &stages);
    if (status) {
        free(task);
        free(window);
        return status;
    }
    memcpy(task, o->task, count * sizeof *task);
    memcpy(window, o->window, count * sizeof *window);
    free(g->task);
    free(g->window);
    mst_stages_free(&g->stages);
    g->task = task;
    g->window = window;
    g->stages = stages;
    g->num_members = o->num_members;
    g->self = o->self;
    g->num_shards = o->num_shards;
    return g->num_members > 1 && !g->has_thread ? mst_group_thread_start(g) : MST_OK;
}

static mst_status check_members(const mst_group_options *o) {
    if (o->num_members >= 1 && o->self >= 0 && o->self < o->num_members) return MST_OK;
    return MST_FAIL(MST_INVALID, "a group has no member %d of %d", o->self, o->num_members);
}

mst_status mst_group_form(mst_task_group *g, const mst_group_options *options) {
    MST_TRY(check_members(options));
    return take_members(g, options);
}

mst_status mst_group_create(const mst_group_options *options, mst_task_group **out) {
    MST_TRY(check_members(options));
    mst_task_group *g = aligned_alloc(_Alignof(mst_task_group), sizeof *g);
    if (!g) return MST_NO_MEMORY("for a group of %d tasks", options->num_members);
    memset(g, 0, sizeof *g);
    pthread_mutex_init(&g->ending, NULL);
    pthread_mutex_init(&g->lock, NULL);
    g->event = -1;
    g->last = &g->first;
    g->next_run = 1;
    g->type = options->type;
    g->transport = options->transport;
    g->waits = options->waits;
    const mst_status status = take_members(g, options);
    if (status)
        mst_group_destroy(g);
    else
        *out = g;
    return status;
}

void mst_group_destroy(mst_task_group *g) {
    if (!g) return;
    mst_group_thread_stop(g);
    if (g->event >= 0) close(g->event);
    mst_stages_free(&g->stages);
    pthread_mutex_destroy(&g->lock);
    pthread_mutex_destroy(&g->ending);
    free(g->task);
    free(g->window);
    free(g);
}

/* ---- generations ---- */

void mst_group_begin(mst_task_group *g, uint32_t generation) {
    pthread_mutex_lock(&g->lock);
    g->generation = generation;
    g->active = true;
    g->next_run = 1;
    g->started = 0;
    pthread_mutex_unlock(&g->lock);
}

int32_t mst_group_started(mst_task_group *g, mst_group_progress last[MST_GROUP_LAST]) {
    int32_t count = 0;
    pthread_mutex_lock(&g->lock);
    for (uint64_t n = g->started; n > 0 && count < MST_GROUP_LAST; n--) last[count++] = g->noted[n % MST_GROUP_LAST];
    pthread_mutex_unlock(&g->lock);
    return count;
}

/* Marks GENERATION as ended in the group. The transport's generation is ended after this, which completes the posts and
 * sends of all exchanges: by then the exchanges must be known to have failed. */
static bool mark_ended(mst_task_group *g, uint32_t generation, const mst_failure *failure) {
    pthread_mutex_lock(&g->lock);
    const bool ends = g->active && g->generation == generation;
    if (ends) {
        g->active = false;
        g->failure = *failure;
    }
    pthread_mutex_unlock(&g->lock);
    return ends;
}

void mst_group_end_generation(mst_task_group *g, uint32_t generation, const mst_failure *failure) {
    pthread_mutex_lock(&g->ending);
    if (mark_ended(g, generation, failure)) g->type->end(g->transport);
    pthread_mutex_unlock(&g->ending);
}

void mst_group_end(mst_task_group *g, const mst_failure *failure) {
    pthread_mutex_lock(&g->lock);
    const uint32_t generation = g->generation;
    pthread_mutex_unlock(&g->lock);
    mst_group_end_generation(g, generation, failure);
}

/* The error of a generation that is over. */
static mst_status over(mst_task_group *g) {
    if (g->failure.code) return mst_failure_restore(&g->failure);
    return MST_FAIL(MST_UNAVAILABLE, "the tasks of the group have not begun to work together");
}

bool mst_group_wait(mst_task_group *g, mst_timeline *line, uint64_t value, int64_t deadline) {
    if (mst_timeline_value(line) >= value) return true;
    mst_stopwatch_start(g->waits);
    const bool in_time = mst_group_help(g, line, value, deadline);
    mst_stopwatch_stop(g->waits);
    return in_time;
}

mst_status mst_group_enter(mst_task_group *g, uint32_t *out) {
    pthread_mutex_lock(&g->lock);
    const mst_status status = g->active ? MST_OK : over(g);
    *out = g->generation;
    pthread_mutex_unlock(&g->lock);
    return status;
}

mst_status mst_group_check(mst_task_group *g) {
    uint32_t generation;
    return mst_group_enter(g, &generation);
}

mst_status mst_group_check_generation(mst_task_group *g, uint32_t generation) {
    pthread_mutex_lock(&g->lock);
    const mst_status status = g->active && g->generation == generation ? MST_OK : over(g);
    pthread_mutex_unlock(&g->lock);
    return status;
}

static void check_message(mst_task_group *g, mst_status status, uint32_t generation, mst_timeline *done) {
    if (!status) return;
    mst_failure failure;
    mst_failure_keep(&failure, status);
    mst_group_end_generation(g, generation, &failure);
    mst_timeline_add(done, 1);
}

void mst_group_post(mst_task_group *g, int32_t member, mst_key key, void *into, size_t bytes, mst_kept_part **lent,
                    mst_timeline *done) {
    const mst_transport_type *type = g->type;
    const int32_t from = g->task[member];
    const mst_status status = lent && type->borrow ? type->borrow(g->transport, from, key, into, bytes, lent, done)
                                                   : type->post(g->transport, from, key, into, bytes, done);
    check_message(g, status, key.generation, done);
}

void mst_group_send(mst_task_group *g, int32_t member, mst_key key, const mst_iov *piece, int n, mst_timeline *done) {
    check_message(g, g->type->send(g->transport, g->task[member], key, piece, n, done), key.generation, done);
}

void mst_group_note_start(mst_task_group *g, uint64_t run, uint32_t stream, const char *name) {
    mst_group_progress *at = &g->noted[++g->started % MST_GROUP_LAST];
    *at = (mst_group_progress){.count = g->started, .run = run, .stream = stream, .at = mst_clock_now()};
    snprintf(at->name, sizeof at->name, "%s", name);
}

void mst_exchange_base_make(mst_exchange_base *base, const char *name, uint64_t hash, uint32_t stream) {
    base->hash = hash;
    base->stream = stream;
    snprintf(base->name, sizeof base->name, "%s", name ? name : "");
}

bool mst_exchange_begin(mst_exchange_base *base, uint64_t run) {
    base->started = true;
    base->run = run;
    base->generation = base->group->generation;
    mst_group_note_start(base->group, run, base->stream, base->name);
    return base->group->active;
}

mst_key mst_exchange_key(const mst_exchange_base *base, uint32_t serial) {
    return (mst_key){
        .generation = base->generation, .stream = base->stream << 8 | serial, .run = base->run, .hash = base->hash};
}

void mst_exchange_give_up(const mst_exchange_base *base) {
    mst_failure failure;
    mst_failure_keep(&failure, MST_FAIL(MST_CANCELLED, "exchange %u of run %llu was given up by member %d",
                                        base->stream, (unsigned long long)base->run, base->group->self));
    mst_group_end_generation(base->group, base->generation, &failure);
}

uint64_t mst_group_next_run(mst_task_group *g) {
    pthread_mutex_lock(&g->lock);
    const uint64_t run = g->next_run++;
    pthread_mutex_unlock(&g->lock);
    return run;
}

/* ---- size, members and windows ---- */

int32_t mst_group_size(const mst_task_group *g) {
    return g->num_members;
}

int32_t mst_group_self(const mst_task_group *g) {
    return g->self;
}

int32_t mst_group_task(const mst_task_group *g, int32_t member) {
    return g->task[member];
}

int32_t mst_group_num_shards(const mst_task_group *g) {
    return g->num_shards;
}

mst_shards mst_group_window(const mst_task_group *g, int32_t member) {
    return g->window[member];
}

int32_t mst_group_leaves(const mst_task_group *g, int32_t member, mst_shards *out) {
    return mst_window_leaves(g->window[member], g->num_shards, out);
}
