/* The plans of a session, found by (graph version, feeds, fetches).
 *
 * A thread that finds no plan makes one without holding the session's lock. First it puts the call on the list of plans
 * being made, so that no other thread makes the same plan. At the end it takes the call off the list and puts the plan
 * into the cache. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "graph/spec.h"
#include "run/session.h"
#include "run/strings.h"
#include "tensor/string.h"

enum { MAX_PLANS = 64 };

static mst_spec feed_spec(const mst_feed *feed) {
    return feed->tensor ? mst_spec_of(feed->tensor) : feed->spec;
}

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t hash_call(const mst_session *session, const mst_feed *feeds, int num_feeds, const mst_value *fetches,
                          int num_fetches) {
    uint64_t h = mix(mst_graph_version(session->graph), (uint64_t)num_feeds);
    for (int i = 0; i < num_feeds; i++) {
        mst_spec spec = feed_spec(&feeds[i]);
        h = mix(h, (uint64_t)(uintptr_t)feeds[i].value.node + (uint64_t)feeds[i].value.index);
        h = mix(h, (uint64_t)spec.dtype * 2 + (feeds[i].fill != NULL));
        for (int k = 0; k < spec.shape.ndim; k++) h = mix(h, (uint64_t)spec.shape.dim[k]);
    }
    for (int i = 0; i < num_fetches; i++) h = mix(h, (uint64_t)(uintptr_t)fetches[i].node + (uint64_t)fetches[i].index);
    return h;
}

static bool is_for(const mst_cached_plan *cached, const mst_session *session, uint64_t hash, const mst_feed *feeds,
                   int num_feeds, const mst_value *fetches, int num_fetches) {
    if (cached->hash != hash || cached->graph_version != mst_graph_version(session->graph) ||
        cached->num_feeds != num_feeds || cached->num_fetches != num_fetches)
        return false;
    for (int i = 0; i < num_feeds; i++) {
        mst_spec spec = feed_spec(&feeds[i]);
        if (!mst_value_equal(cached->feeds[i].value, feeds[i].value) ||
            !mst_spec_equal(&cached->feeds[i].spec, &spec) ||
            (cached->feeds[i].fill != NULL) != (feeds[i].fill != NULL))
            return false;
    }
    for (int i = 0; i < num_fetches; i++)
        if (!mst_value_equal(cached->fetches[i], fetches[i])) return false;
    return true;
}

/* ---- memory inside programs ---- */

/* Sets `inside_bytes` of SESSION anew, from `inside` of all plans. Call it under the lock. */
static void count_inside(mst_session *session) {
    for (int d = 0; d < session->devices.count; d++) {
        int64_t most = 0;
        for (const mst_cached_plan *at = session->measured; at; at = at->next_measured)
            if (at->inside[d] > most) most = at->inside[d];
        atomic_store(&session->inside_bytes[d], most);
    }
}

static void forget_inside(mst_session *session, mst_cached_plan *cached) {
    pthread_mutex_lock(&session->lock);
    for (mst_cached_plan **at = &session->measured; *at; at = &(*at)->next_measured) {
        if (*at != cached) continue;
        *at = cached->next_measured;
        break;
    }
    free(cached->inside);
    cached->inside = NULL;
    count_inside(session);
    pthread_mutex_unlock(&session->lock);
}

static bool is_measured(const mst_session *session, const mst_cached_plan *cached, int d) {
    const mst_device *device = &session->devices.device[d];
    return device->memory_limit > 0 && device->type->backend->inside_bytes && cached->executable[d];
}

/* Finds for each device that has a limit of memory what the programs of CACHED take beyond their arguments and results.
 * Waits until the programs are compiled. */
static mst_status measure_inside(mst_session *session, mst_cached_plan *cached, int64_t deadline) {
    bool any = false;
    for (int d = 0; d < session->devices.count; d++) any |= is_measured(session, cached, d);
    int64_t *inside = any ? calloc((size_t)session->devices.count, sizeof *inside) : NULL;
    if (any && !inside) return MST_NO_MEMORY("for a plan");
    for (int d = 0; d < session->devices.count; d++) {
        if (!is_measured(session, cached, d)) continue;
        const mst_status status =
            session->devices.device[d].type->backend->inside_bytes(cached->executable[d], deadline, &inside[d]);
        if (!status) continue;
        free(inside);
        return status;
    }
    if (!any) return MST_OK;
    pthread_mutex_lock(&session->lock);
    cached->inside = inside;
    cached->next_measured = session->measured;
    session->measured = cached;
    count_inside(session);
    pthread_mutex_unlock(&session->lock);
    return MST_OK;
}

/* ---- making and freeing ---- */

/* Frees all of a plan except the description of its call. */
static void undo(mst_session *session, mst_cached_plan *cached) {
    for (int i = 0; cached->bound && i < session->num_slots; i++) mst_bound_plan_free(session, &cached->bound[i]);
    if (cached->inside) forget_inside(session, cached);
    for (int d = 0; d < session->devices.count; d++) {
        const mst_device *device = &session->devices.device[d];
        if (cached->executable && cached->executable[d]) device->type->backend->destroy(cached->executable[d]);
        if (!cached->constants || !cached->constants[d]) continue;
        const int64_t bytes = cached->plan->program[d].constant_bytes;
        device->domain->type->free(device->domain, cached->constants[d], (size_t)bytes);
        atomic_fetch_sub(&session->constant_bytes[d], bytes);
    }
    mst_plan_destroy(cached->plan);
    free(cached->devices);
    free(cached->executable);
    free(cached->constants);
    free(cached->state);
    free(cached->copy);
    free(cached->data);
    free(cached->use);
    free(cached->touch);
    free(cached->bound);
    cached->plan = NULL;
    cached->devices = NULL;
    cached->executable = NULL;
    cached->constants = NULL;
    cached->state = NULL;
    cached->copy = NULL;
    cached->data = NULL;
    cached->use = NULL;
    cached->touch = NULL;
    cached->bound = NULL;
    cached->num_uses = cached->num_touches = cached->touch_capacity = cached->num_devices = 0;
}

static void plan_cache_destroy(mst_session *session, mst_cached_plan *cached) {
    if (!cached) return;
    undo(session, cached);
    free(cached->feeds);
    free(cached->fetches);
    free(cached);
}

static void destroy_all(mst_session *session, mst_cached_plan *dropped) {
    while (dropped) {
        mst_cached_plan *next = dropped->next;
        plan_cache_destroy(session, dropped);
        dropped = next;
    }
}

/* Drops a reference, under the lock. A plan without references is put on the list DROPPED, to be destroyed without the
 * lock: devices may be slow to take memory back. */
static void drop_reference(mst_cached_plan *cached, mst_cached_plan **dropped) {
    if (--cached->references) return;
    cached->next = *dropped;
    *dropped = cached;
}

void mst_cached_plan_release(mst_session *session, mst_cached_plan *cached) {
    mst_cached_plan *dropped = NULL;
    pthread_mutex_lock(&session->lock);
    drop_reference(cached, &dropped);
    pthread_mutex_unlock(&session->lock);
    destroy_all(session, dropped);
}

static mst_status place_constant(mst_domain *domain, void *dst, const mst_tensor *constant) {
    if (mst_tensor_dtype(constant) == MST_STRING) return mst_strings_place(domain, dst, constant);
    const mst_array from = {.data = mst_tensor_data(constant),
                            .count = mst_tensor_count(constant),
                            .dtype = mst_tensor_dtype(constant),
                            .shape = mst_tensor_shape(constant)};
    mst_array to = from;
    to.data = dst;
    return mst_domain_copy_array(domain, &to, &mst_domain_host, &from, MST_NEVER);
}

/* Copies the constants of a device whose memory is not the host's into its memory. Called during an allocation. */
static mst_status place_constants(mst_session *session, mst_cached_plan *cached, int d) {
    const mst_plan *plan = cached->plan;
    const int64_t bytes = plan->program[d].constant_bytes;
    mst_domain *domain = session->devices.device[d].domain;
    if (bytes == 0) return MST_OK;
    MST_TRY(mst_session_check_limit(session, plan, d, bytes));
    void *data;
    atomic_fetch_add(&session->constant_bytes[d], bytes);
    const mst_status status = domain->type->alloc(domain, (size_t)bytes, &data);
    if (status) {
        atomic_fetch_sub(&session->constant_bytes[d], bytes);
        return status;
    }
    cached->constants[d] = data;
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        for (int i = 0; i < node->num_dst && node->device == d; i++) {
            const mst_plan_value *value = &plan->value[node->dst + i];
            if (!value->constant) continue;
            MST_TRY(place_constant(domain, cached->constants[d] + value->offset, value->constant));
            atomic_fetch_add(&session->copied, (int64_t)mst_tensor_all_bytes(value->constant));
        }
    }
    return MST_OK;
}

static mst_status compile(mst_session *session, mst_cached_plan *cached) {
    const size_t count = (size_t)session->devices.count;
    cached->devices = calloc(count, sizeof *cached->devices);
    cached->executable = calloc(count, sizeof *cached->executable);
    cached->constants = calloc(count, sizeof *cached->constants);
    cached->bound = calloc((size_t)session->num_slots, sizeof *cached->bound);
    if (!cached->devices || !cached->executable || !cached->constants || !cached->bound)
        return MST_NO_MEMORY("for a plan");
    for (int d = 0; d < session->devices.count; d++) {
        const mst_program *program = &cached->plan->program[d];
        if (program->num_actions == 0) continue;
        cached->devices[cached->num_devices++] = d;
        MST_TRY(session->devices.device[d].type->backend->compile(cached->plan, d, &cached->executable[d]));
    }
    return MST_OK;
}

/* With more devices, one thread is always slower than several, even if another program keeps a core busy. */
enum { MOST_ALONE = 4 };

/* Whether one thread can run all devices of the plan. They must have one thread each and compute in the host's memory,
 * and the caller must run one of them anyway. No other frame may be in flight, because calls of a device share the
 * prepared state of their kernels. */
static bool can_run_alone(const mst_session *session, const mst_cached_plan *cached) {
    if (cached->num_devices < 2 || cached->num_devices > MOST_ALONE || session->num_slots > 1 ||
        mst_executor_runs_all(session->executor))
        return false;
    for (int32_t i = 0; i < cached->num_devices; i++) {
        const mst_device *device = &session->devices.device[cached->devices[i]];
        if (!device->domain->type->host || device->num_threads != 1) return false;
    }
    return true;
}

/* Makes a cached plan that only describes the call; the plan itself is made later. */
static mst_status plan_cache_describe(const mst_session *session, uint64_t hash, const mst_feed *feeds, int num_feeds,
                                      const mst_value *fetches, int num_fetches, mst_cached_plan **out) {
    mst_cached_plan *cached = calloc(1, sizeof *cached);
    if (!cached) return MST_NO_MEMORY("for a plan");
    *out = cached;
    cached->references = 1;
    cached->graph_version = mst_graph_version(session->graph);
    cached->hash = hash;
    cached->num_feeds = num_feeds;
    cached->num_fetches = num_fetches;
    cached->feeds = calloc((size_t)num_feeds + 1, sizeof *cached->feeds);
    cached->fetches = calloc((size_t)num_fetches + 1, sizeof *cached->fetches);
    if (!cached->feeds || !cached->fetches) return MST_NO_MEMORY("for a plan");
    for (int i = 0; i < num_feeds; i++) {
        cached->feeds[i] = feeds[i];
        cached->feeds[i].spec = feed_spec(&feeds[i]);
    }
    if (num_fetches) memcpy(cached->fetches, fetches, (size_t)num_fetches * sizeof *fetches);
    return MST_OK;
}

/* Bytes that DEVICE will need for steps of the plan, in addition to its present memory. */
static int64_t more_bytes(const mst_session *session, const mst_cached_plan *cached, int device) {
    const mst_program *program = &cached->plan->program[device];
    const int64_t grows = program->arena_bytes + program->workspace_bytes - session->slots[0].arena[device].bytes;
    /* each slot has arenas of its own, which become as large */
    return ((grows > 0 ? grows : 0) + program->exchange_bytes) * session->num_slots;
}

/* Allocates constants and copies of entries, and checks that the slots' arenas, which are allocated later, keep within
 * the limits. Called during an allocation. */
static mst_status place(mst_session *session, mst_cached_plan *cached) {
    for (int d = 0; d < session->devices.count; d++) MST_TRY(place_constants(session, cached, d));
    MST_TRY(mst_session_place_states(session, cached));
    for (int d = 0; d < session->devices.count; d++) {
        const int64_t more = more_bytes(session, cached, d);
        if (more > 0) MST_TRY(mst_session_check_limit(session, cached->plan, d, more));
    }
    return MST_OK;
}

/* Checks the limits again, now with the memory that programs take inside. Called during an allocation. */
static mst_status check_inside(const mst_session *session, const mst_cached_plan *cached) {
    for (int d = 0; d < session->devices.count; d++)
        if (cached->inside && cached->inside[d] > 0)
            MST_TRY(mst_session_check_limit(session, cached->plan, d, more_bytes(session, cached, d)));
    return MST_OK;
}

/* ---- the cache: under the lock ---- */

static void drop(mst_session *session, int64_t i, mst_cached_plan **dropped) {
    mst_cached_plan *cached = session->plans[i];
    memmove(session->plans + i, session->plans + i + 1, (size_t)(--session->num_plans - i) * sizeof *session->plans);
    drop_reference(cached, dropped);
}

/* Drops the plans of older versions of the graph. A graph only grows, so no later call can use them. */
static void drop_old_versions(mst_session *session, mst_cached_plan **dropped) {
    for (int64_t i = session->num_plans - 1; i >= 0; i--)
        if (session->plans[i]->graph_version != mst_graph_version(session->graph)) drop(session, i, dropped);
}

static void put_first(mst_session *session, int64_t i, mst_cached_plan *cached) {
    memmove(session->plans + 1, session->plans, (size_t)i * sizeof *session->plans);
    session->plans[0] = cached;
}

/* ---- without the lock ---- */

void mst_session_forget_plan(mst_session *session, mst_cached_plan *cached) {
    mst_cached_plan *dropped = NULL;
    pthread_mutex_lock(&session->lock);
    for (int64_t i = session->num_plans - 1; i >= 0; i--)
        if (session->plans[i] == cached) drop(session, i, &dropped);
    pthread_mutex_unlock(&session->lock);
    destroy_all(session, dropped);
}

/* Makes the plan that CACHED describes, and puts it into the cache. DONATES: see mst_plan. */
static mst_status plan_cache_make(mst_session *session, mst_cached_plan *cached, bool donates, int64_t deadline) {
    mst_cached_plan *dropped = NULL;
    MST_TRY(mst_plan_make(session->graph, &session->host, cached->feeds, cached->num_feeds, cached->fetches,
                          cached->num_fetches, donates, &cached->plan));
    MST_TRY(compile(session, cached));
    cached->can_run_alone = can_run_alone(session, cached);
    MST_TRY(mst_session_begin_allocation(session, deadline));
    mst_status status = place(session, cached);
    mst_session_end_allocation(session);
    if (!status) {
        mst_errand_set_stop(session->stop.asked ? &session->stop : NULL);
        status = measure_inside(session, cached, deadline);
        mst_errand_set_stop(NULL);
    }
    MST_TRY(status);
    if (cached->inside) {
        MST_TRY(mst_session_begin_allocation(session, deadline));
        status = check_inside(session, cached);
        mst_session_end_allocation(session);
        MST_TRY(status);
    }
    pthread_mutex_lock(&session->lock);
    status = mst_grow(&session->plans, sizeof *session->plans, session->num_plans + 1, &session->plan_capacity);
    if (!status) {
        drop_old_versions(session, &dropped);
        if (session->num_plans == MAX_PLANS) drop(session, session->num_plans - 1, &dropped);
        put_first(session, session->num_plans++, cached);
        cached->references++;
        session->plans_made++;
    }
    pthread_mutex_unlock(&session->lock);
    destroy_all(session, dropped);
    return status;
}

/* Drops all plans of the cache; false if there is none. */
static bool drop_all(mst_session *session) {
    mst_cached_plan *dropped = NULL;
    pthread_mutex_lock(&session->lock);
    const bool some = session->num_plans > 0;
    while (session->num_plans) drop(session, session->num_plans - 1, &dropped);
    pthread_mutex_unlock(&session->lock);
    destroy_all(session, dropped);
    return some;
}

/* Whether a device that compiles has a limit of memory. */
static bool has_limit(const mst_session *session) {
    bool any = false;
    for (int d = 0; d < session->devices.count; d++)
        any |= session->devices.device[d].type->compiles && session->devices.device[d].memory_limit > 0;
    return any;
}

/* Makes the plan that CACHED describes. If memory has no room for it, the other plans are dropped. If that is not
 * enough, the plan is made so that it updates variables in place, and so are all new plans from then on. */
static mst_status plan_cache_fit(mst_session *session, mst_cached_plan *cached, int64_t deadline) {
    const bool donates = atomic_load(&session->updates_in_place);
    mst_failure failure;
    mst_status status = plan_cache_make(session, cached, donates, deadline);
    if (status == MST_OUT_OF_MEMORY && drop_all(session)) { /* there may be room without the other plans */
        undo(session, cached);
        status = plan_cache_make(session, cached, donates, deadline);
    }
    if (status != MST_OUT_OF_MEMORY || !cached->plan || !cached->plan->can_donate || !has_limit(session)) return status;
    mst_failure_keep(&failure, status);
    undo(session, cached);
    status = plan_cache_make(session, cached, true, deadline);
    if (status == MST_OUT_OF_MEMORY) return mst_failure_restore(&failure);
    if (!status) atomic_store(&session->updates_in_place, true);
    return status;
}

/* Takes CACHED off the list of calls that are being planned. */
static void end_making(mst_session *session, const mst_cached_plan *cached) {
    pthread_mutex_lock(&session->lock);
    mst_cached_plan **at = &session->making;
    while (*at != cached) at = &(*at)->next;
    *at = cached->next;
    pthread_cond_broadcast(&session->plan_made);
    pthread_mutex_unlock(&session->lock);
}

/* The plan for the call among the session's plans; NULL if there is none. */
static mst_cached_plan *plan_cache_find(mst_session *session, uint64_t hash, const mst_feed *feeds, int num_feeds,
                                        const mst_value *fetches, int num_fetches) {
    for (int64_t i = 0; i < session->num_plans; i++) {
        mst_cached_plan *cached = session->plans[i];
        if (!is_for(cached, session, hash, feeds, num_feeds, fetches, num_fetches)) continue;
        put_first(session, i, cached);
        cached->references++;
        return cached;
    }
    return NULL;
}

mst_status mst_session_plan(mst_session *session, const mst_feed *feeds, int num_feeds, const mst_value *fetches,
                            int num_fetches, int64_t deadline, mst_cached_plan **out) {
    const uint64_t hash = hash_call(session, feeds, num_feeds, fetches, num_fetches);
    mst_cached_plan *fresh = NULL, *other;
    mst_status status = MST_OK;
    bool mine = false;
    *out = NULL;
    pthread_mutex_lock(&session->lock);
    while (!status && !mine && !(*out = plan_cache_find(session, hash, feeds, num_feeds, fetches, num_fetches))) {
        for (other = session->making; other; other = other->next)
            if (is_for(other, session, hash, feeds, num_feeds, fetches, num_fetches)) break;
        if (other) {
            if (!mst_session_wait(session, &session->plan_made, deadline))
                status = MST_FAIL(MST_DEADLINE, "waited too long for another thread that plans the same call");
        } else if ((mine = fresh != NULL)) {
            fresh->next = session->making;
            session->making = fresh;
        } else {
            pthread_mutex_unlock(&session->lock);
            status = plan_cache_describe(session, hash, feeds, num_feeds, fetches, num_fetches, &fresh);
            pthread_mutex_lock(&session->lock);
        }
    }
    pthread_mutex_unlock(&session->lock);
    if (mine) {
        status = plan_cache_fit(session, fresh, deadline);
        end_making(session, fresh);
        if (!status) *out = fresh;
    }
    if (fresh != *out) plan_cache_destroy(session, fresh);
    return status;
}
