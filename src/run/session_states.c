/* Connects the plans of a session to the entries of its store: which copy of an entry each state of a plan uses.
 *
 * All plans of a session share their copies. Sessions of one store share copies that lie in the same place. Missing
 * copies are placed in batches, one block of memory for each device or domain, within the memory limits. Before a step
 * mst_session_check_states checks that each entry that is read has a value, and refreshes stale copies. After a step
 * mst_session_commit_states gives the entries that it wrote a new version. */
#include <stdlib.h>
#include <string.h>

#include "base/byte_count.h"
#include "base/no_memory.h"
#include "muster/ops.h"
#include "run/session.h"
#include "tensor/buffer.h"

static const mst_variable_options *options_of(const mst_plan_state *state) {
    return state->variable->options;
}

/* ---- limits ---- */

static int64_t slot_bytes(const mst_session *session, int device) {
    int64_t bytes = 0;
    for (int i = 0; i < session->num_slots; i++)
        bytes += session->slots[i].arena[device].bytes + session->slots[i].frame.strings[device].bytes;
    return bytes;
}

static int64_t used_bytes(const mst_session *session, int device) {
    return session->state_bytes[device] + session->constant_bytes[device] + session->inside_bytes[device] +
           slot_bytes(session, device);
}

int64_t mst_session_string_room(const mst_session *session, int device, const mst_string_memory *strings) {
    const int64_t limit = session->devices.device[device].memory_limit;
    return limit > 0 ? limit - used_bytes(session, device) + strings->bytes : INT64_MAX;
}

/* Checks that the host's memory has room for MORE bytes. Without this check the system would kill the process without a
 * message. The memory of the process includes what the session has allocated and touched, but not untouched memory. So
 * the memory in use is at least the larger of two numbers: the memory of the process, and what the session has
 * allocated. */
static mst_status check_host(const mst_session *session, const mst_plan *plan, int device, int64_t more) {
    const mst_devices *devices = &session->devices;
    const int64_t memory = mst_host_memory();
    int64_t needed = 0;
    for (int i = 0; i < devices->count; i++)
        if (mst_device_is_here(devices, i) && devices->device[i].domain->type->host) needed += used_bytes(session, i);
    if (!devices->device[device].domain->type->host || memory <= 0) return MST_OK;
    const int64_t has = mst_process_memory();
    needed = (has > needed ? has : needed) + more;
    if (needed <= memory) return MST_OK;
    if (plan) return mst_plan_over_host(plan, device, needed, memory);
    char need[MST_BYTES_TEXT], limit[MST_BYTES_TEXT];
    mst_bytes_print_two(needed, memory, need, limit);
    return MST_FAIL(MST_OUT_OF_MEMORY,
                    "with the variables this process needs %s, and this machine, or its container (cgroup), has %s",
                    need, limit);
}

mst_status mst_session_check_limit(const mst_session *session, const mst_plan *plan, int device, int64_t more) {
    const mst_device *where = &session->devices.device[device];
    const int64_t needed = used_bytes(session, device) + more;
    if (where->memory_limit <= 0 || needed <= where->memory_limit) return check_host(session, plan, device, more);
    if (plan) return mst_plan_over_limit(plan, device, needed, session->inside_bytes[device]);
    char need[MST_BYTES_TEXT], limit[MST_BYTES_TEXT];
    mst_bytes_print_two(needed, where->memory_limit, need, limit);
    MST_FAIL(MST_OUT_OF_MEMORY, "device %s: its variables need %s, the limit is %s: raise the limit", where->text, need,
             limit);
    return mst_error_at(NULL, where->text);
}

mst_status mst_session_check_room(const mst_cached_plan *cached, int64_t fresh) {
    const int64_t memory = mst_host_memory(), has = mst_process_memory();
    int64_t needed = has + fresh;
    for (int64_t i = 0; i < cached->num_touches && !cached->touched; i++) needed += (int64_t)cached->touch[i].bytes;
    if (memory <= 0 || needed <= memory) return MST_OK;
    return mst_plan_over_host(cached->plan, cached->devices[0], needed, memory);
}

mst_status mst_session_check_outputs(const mst_session *session, const mst_cached_plan *cached, int64_t bytes) {
    const int64_t memory = mst_host_memory(), has = memory > 0 ? mst_process_memory() : 0;
    int64_t used = 0, grows = 0;
    for (int d = 0; d < session->devices.count; d++) {
        if (!mst_device_is_here(&session->devices, d) || !session->devices.device[d].domain->type->host) continue;
        const mst_program *program = &cached->plan->program[d];
        const int64_t more = program->arena_bytes + program->workspace_bytes - session->slots[0].arena[d].bytes;
        used += used_bytes(session, d);
        grows += more > 0 ? more * session->num_slots : 0;
    }
    const int64_t needed = (has > used ? has : used) + grows + bytes;
    if (memory <= 0 || needed <= memory) return MST_OK;
    return mst_plan_over_host(cached->plan, cached->devices[0], needed, memory);
}

/* ---- placing ---- */

/* The first device of the session in the domain of DEVICE. Its number is part of the key of a copy that the domain
 * shares. */
static int32_t first_of_domain(const mst_session *session, int32_t device) {
    int32_t first = 0;
    while (session->devices.device[first].domain != session->devices.device[device].domain) first++;
    return first;
}

/* Finds the copy that the session already uses for a state of a plan; NULL: it uses none yet. */
static mst_status find_used(mst_session *session, const mst_plan_state *state, const mst_state *entry, int32_t **out) {
    const int32_t place =
        state->of_domain ? session->devices.count + first_of_domain(session, state->device) : state->device;
    *out = mst_pair_map_at(&session->copies, (int32_t)entry->number, place, -1);
    return *out ? MST_OK : MST_NO_MEMORY("for a session");
}

static mst_status note_used(mst_session *session, const mst_plan_state *state, mst_state *entry, mst_copy *copy) {
    int32_t *index;
    MST_TRY(mst_grow(&session->used, sizeof *session->used, session->num_used + 1, &session->used_capacity));
    MST_TRY(find_used(session, state, entry, &index));
    *index = (int32_t)session->num_used;
    session->used[session->num_used++] = (mst_used_copy){entry, copy};
    return MST_OK;
}

/* States of one plan, of one device or domain, that have no copy yet. They are placed together. */
typedef struct batch {
    const mst_plan_state **plan_state;
    mst_state **state;
    mst_copy **copy;
    int64_t count, bytes;
} batch;

/* ---- first touch ---- */

/* Notes which device touches which part of new copies first, so that the part lies in the memory next to its cores. A
 * device touches its own copy. Each device of a group touches its part of a copy that the domain shares. */
static mst_status note_touches(mst_cached_plan *cached, const batch *b) {
    for (int64_t i = 0; i < b->count; i++) {
        const mst_plan_state *state = b->plan_state[i];
        const bool shared = state->of_domain && state->group >= 0;
        const mst_plan_group *group = shared ? &cached->plan->group[state->group] : NULL;
        const size_t bytes = b->state[i]->bytes, parts = group ? (size_t)group->count : 1;
        MST_TRY(mst_grow(&cached->touch, sizeof *cached->touch, cached->num_touches + (int64_t)parts,
                         &cached->touch_capacity));
        for (size_t p = 0; p < parts; p++) {
            const size_t begin = bytes * p / parts, end = bytes * (p + 1) / parts;
            cached->touch[cached->num_touches++] = (mst_touch){.data = (char *)b->copy[i]->data + begin,
                                                               .bytes = end - begin,
                                                               .device = group ? group->device[p] : state->device};
        }
    }
    return MST_OK;
}

static mst_status place_batch(mst_session *session, mst_cached_plan *cached, batch *b) {
    if (b->count == 0) return MST_OK;
    const mst_plan_state *first = b->plan_state[0];
    const mst_device *device = &session->devices.device[first->device];
    MST_TRY(mst_session_check_limit(session, NULL, first->device, b->bytes));
    session->state_bytes[first->device] += b->bytes;
    const mst_status status = mst_store_place(session->store, b->state, b->count, device->domain,
                                              first->of_domain ? "" : device->text, b->copy);
    if (status) {
        session->state_bytes[first->device] -= b->bytes;
        return status;
    }
    for (int64_t i = 0; i < b->count; i++) MST_TRY(note_used(session, b->plan_state[i], b->state[i], b->copy[i]));
    enum { WORTH_TOUCHING = 1 << 18 }; /* bytes */
    if (device->domain->type->host && b->bytes >= WORTH_TOUCHING && session->devices.count > 1)
        MST_TRY(note_touches(cached, b));
    b->count = b->bytes = 0;
    return MST_OK;
}

/* Compares states by device or domain, then by their order in the plan. */
static int by_place(const void *a, const void *b) {
    const mst_plan_state *x = *(const mst_plan_state *const *)a, *y = *(const mst_plan_state *const *)b;
    if (x->of_domain != y->of_domain) return x->of_domain ? 1 : -1;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool are_together(const mst_session *session, const mst_plan_state *a, const mst_plan_state *b) {
    if (a->of_domain != b->of_domain) return false;
    if (!a->of_domain) return a->device == b->device;
    return session->devices.device[a->device].domain == session->devices.device[b->device].domain;
}

/* Finds a copy that another session of the store has made. */
static mst_status find_copy_of_others(mst_session *session, const mst_plan_state *state, mst_state *entry,
                                      bool *found) {
    const mst_device *device = &session->devices.device[state->device];
    mst_copy *copy = mst_state_use_copy(session->store, entry, device->domain, state->of_domain ? "" : device->text);
    *found = copy != NULL;
    if (!copy) return MST_OK;
    mst_status status = mst_session_check_limit(session, NULL, state->device, (int64_t)mst_align(entry->bytes));
    if (!status) status = note_used(session, state, entry, copy);
    if (status)
        mst_copy_release(session->store, entry, copy);
    else
        session->state_bytes[state->device] += (int64_t)mst_align(entry->bytes);
    return status;
}

static int by_entry(const void *a, const void *b) {
    const mst_use *x = a, *y = b;
    return x->state->number < y->state->number ? -1 : x->state->number > y->state->number;
}

/* Lists the uses of the COUNT states in ORDER, each entry once. A mirrored variable has a state for each device. */
static mst_status list_uses(mst_cached_plan *cached, const mst_plan_state *const *order, int64_t count) {
    if (!(cached->use = calloc((size_t)count + 1, sizeof *cached->use))) return MST_NO_MEMORY("for a plan");
    for (int64_t i = 0; i < count; i++)
        cached->use[i] = (mst_use){.state = cached->state[order[i] - cached->plan->state], .writes = order[i]->writes};
    qsort(cached->use, (size_t)count, sizeof *cached->use, by_entry);
    for (int64_t i = 0; i < count; i++) {
        mst_use *last = cached->num_uses ? &cached->use[cached->num_uses - 1] : NULL;
        if (last && last->state == cached->use[i].state)
            last->writes |= cached->use[i].writes;
        else
            cached->use[cached->num_uses++] = cached->use[i];
    }
    return MST_OK;
}

static mst_status place_all(mst_session *session, mst_cached_plan *cached, const mst_plan_state **order, batch *b) {
    const mst_plan *plan = cached->plan;
    int64_t count = 0;
    for (int64_t i = 0; i < plan->num_states; i++)
        if (plan->state[i].used) order[count++] = &plan->state[i];
    qsort(order, (size_t)count, sizeof *order, by_place);
    for (int64_t i = 0; i < count; i++) {
        const mst_plan_state *state = order[i];
        const mst_variable_options *o = options_of(state);
        const int64_t index = state - plan->state;
        int32_t *used;
        MST_TRY(mst_store_declare(session->store, o->container, state->variable->name, (mst_state_kind)o->kind,
                                  &state->variable->dst[0], &cached->state[index]));
        if (b->count && !are_together(session, b->plan_state[0], state)) MST_TRY(place_batch(session, cached, b));
        MST_TRY(find_used(session, state, cached->state[index], &used));
        bool found = *used >= 0; /* read before the next call, which may move *used */
        if (!found) MST_TRY(find_copy_of_others(session, state, cached->state[index], &found));
        if (found) continue;
        b->plan_state[b->count] = state;
        b->state[b->count++] = cached->state[index];
        b->bytes += (int64_t)mst_align(cached->state[index]->bytes);
    }
    MST_TRY(place_batch(session, cached, b));
    for (int64_t i = 0; i < count; i++) {
        const int64_t index = order[i] - plan->state;
        int32_t *used;
        MST_TRY(find_used(session, order[i], cached->state[index], &used));
        cached->copy[index] = session->used[*used].copy;
        cached->data[index] = cached->copy[index]->data;
    }
    return list_uses(cached, order, count);
}

mst_status mst_session_place_states(mst_session *session, mst_cached_plan *cached) {
    const size_t count = (size_t)cached->plan->num_states + 1;
    cached->state = calloc(count, sizeof *cached->state);
    cached->copy = calloc(count, sizeof *cached->copy);
    cached->data = calloc(count, sizeof *cached->data);
    const mst_plan_state **order = calloc(count, sizeof *order);
    batch b = {calloc(count, sizeof *b.plan_state), calloc(count, sizeof *b.state), calloc(count, sizeof *b.copy), 0,
               0};
    mst_status status = MST_OK;
    if (!cached->state || !cached->copy || !cached->data || !order || !b.plan_state || !b.state || !b.copy)
        status = MST_NO_MEMORY("for a plan");
    if (!status) status = place_all(session, cached, order, &b);
    free(order);
    free(b.plan_state);
    free(b.state);
    free(b.copy);
    return status;
}

/* ---- before and after a step ---- */

static mst_status check_state(mst_session *session, const mst_plan_state *state, mst_state *entry, mst_copy *copy,
                              int64_t deadline) {
    if (!state->reads) return MST_OK;
    if (mst_state_check_whole(entry)) return mst_error_at(state->variable->name, NULL);
    if (entry->version && copy->version == entry->version) return MST_OK;
    if (entry->version) return mst_copy_refresh(session->store, entry, copy, deadline);
    MST_FAIL(MST_INVALID, "variable '%s' is read, but has no value: call mst_session_init_variables first",
             state->variable->name);
    return mst_error_at(state->variable->name, NULL);
}

mst_status mst_session_check_states(mst_session *session, const mst_cached_plan *cached, int64_t deadline) {
    const mst_plan *plan = cached->plan;
    for (int64_t i = 0; i < plan->num_states; i++)
        if (cached->state[i])
            MST_TRY(check_state(session, &plan->state[i], cached->state[i], cached->copy[i], deadline));
    return MST_OK;
}

void mst_session_commit_states(mst_session *session, const mst_cached_plan *cached, const mst_frame *frame) {
    mst_store *store = session->store;
    const uint64_t number = frame->turn.number;
    const bool failed = atomic_load(&frame->failed);
    pthread_mutex_lock(&store->lock);
    for (int64_t i = 0; i < cached->plan->num_states; i++)
        if (cached->state[i] && cached->plan->state[i].writes) cached->state[i]->torn = false;
    if (failed) mst_session_mark_torn(cached, frame);
    for (int64_t i = 0; i < cached->plan->num_states; i++) {
        mst_state *state = cached->state[i];
        if (!state || !cached->plan->state[i].writes) continue;
        cached->copy[i]->version = state->torn ? 0 : number;
        if (!state->torn) state->version = number;
    }
    pthread_mutex_unlock(&store->lock);
}
