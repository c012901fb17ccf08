/* The life of a session. Its devices, slots and store are made with it, and freed when its last call has left and its
 * threads have ended. The functions that describe a session are here too. Calls are in session_calls.c, variables in
 * session_variables.c. */
#include "run/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/no_memory.h"
#include "base/process.h"
#include "base/thread.h"
#include "tensor/buffer.h"

static const double MOST_TIMEOUT = 1e9; /* seconds */
enum { MOST_FRAMES = 64 };

/* ---- creating ---- */

static mst_status check_options(mst_session *session) {
    mst_session_options *o = &session->options;
    if (!(o->timeout >= 0 && o->timeout <= MOST_TIMEOUT))
        return MST_FAIL(MST_INVALID, "session: timeout is %g s, must be from 0 (the default, %g) to %g", o->timeout,
                        MST_DEFAULT_TIMEOUT, MOST_TIMEOUT);
    if (o->memory_limit < 0) return MST_FAIL(MST_INVALID, "session: memory_limit must not be negative");
    if (o->num_frames < 0 || o->num_frames > MOST_FRAMES)
        return MST_FAIL(MST_INVALID, "session: num_frames is %d, must be from 1 to %d", o->num_frames, MOST_FRAMES);
    if (o->precision < MST_PRECISION_DEFAULT || o->precision > MST_TENSORFLOAT32)
        return MST_FAIL(MST_INVALID, "session: %d is no precision", (int)o->precision);
    if (o->timeout == 0) o->timeout = MST_DEFAULT_TIMEOUT;
    if (o->num_frames == 0) o->num_frames = 1;
    if (o->plan_pass) {
        MST_TRY(mst_plan_check_pass(o->plan_pass));
        session->plan_pass = strdup(o->plan_pass); /* the caller may free its string */
        o->plan_pass = session->plan_pass;
        if (!o->plan_pass) return MST_NO_MEMORY("for a session");
    }
    return MST_OK;
}

static mst_status make_devices(mst_session *session, const mst_session_part_options *part) {
    mst_session_options *o = &session->options;
    mst_device_name task;
    if (mst_device_name_of_task(o->job_name ? o->job_name : "localhost", o->task_index, &task))
        return mst_error_prefix("session");
    MST_TRY(mst_devices_create(o->devices, o->visible_devices, o->memory_limit, &task, &session->devices));
    if (part) MST_TRY(mst_devices_join(&session->devices, part->task, part->num_tasks, part->self));
    if (part) MST_TRY(mst_session_part_create(part, &session->part));
    o->devices = o->visible_devices = o->job_name = NULL; /* the strings belong to the caller, who may free them */
    return MST_OK;
}

static mst_status make_frame(mst_session *session, mst_frame *frame) {
    const size_t devices = (size_t)session->devices.count;
    frame->base = calloc(devices, sizeof *frame->base);
    frame->at = calloc(devices, sizeof *frame->at);
    frame->stop = calloc(devices, sizeof *frame->stop);
    frame->strings = calloc(devices, sizeof *frame->strings);
    if (!frame->base || !frame->at || !frame->stop || !frame->strings) return MST_NO_MEMORY("for a session");
    for (size_t d = 0; d < devices; d++) atomic_init(&frame->at[d], -1);
    frame->devices = &session->devices;
    frame->copied = &session->copied;
    frame->part = session->part;
    frame->check_numerics = session->options.check_numerics;
    frame->spin = mst_executor_spins(&session->devices);
    pthread_mutex_init(&frame->lock, NULL);
    return mst_frame_prepare_alone(frame);
}

static void free_frame(mst_frame *frame, const mst_devices *devices) {
    for (int d = 0; frame->strings && d < devices->count; d++)
        mst_string_memory_free(&frame->strings[d], devices->device[d].domain);
    free(frame->strings);
    mst_run_notes_free(frame->notes);
    free(frame->base);
    free(frame->at);
    free(frame->stop);
    free(frame->own_lines);
    free(frame->walks);
    pthread_mutex_destroy(&frame->lock);
}

static mst_status make_slots(mst_session *session) {
    const size_t slots = (size_t)session->options.num_frames;
    session->slots = aligned_alloc(_Alignof(mst_slot), slots * sizeof *session->slots);
    if (!session->slots) return MST_NO_MEMORY("for a session");
    memset(session->slots, 0, slots * sizeof *session->slots);
    session->num_slots = (int)slots;
    for (int i = 0; i < session->num_slots; i++) {
        mst_slot *slot = &session->slots[i];
        slot->session = session;
        slot->generation = 1;
        slot->arena = calloc((size_t)session->devices.count, sizeof *slot->arena);
        if (!slot->arena) return MST_NO_MEMORY("for a session");
        MST_TRY(make_frame(session, &slot->frame));
        slot->frame.asks = session->stop.asked ? &session->stop : NULL;
    }
    return MST_OK;
}

static void init_lock(mst_session *session) {
    pthread_mutex_init(&session->lock, NULL);
    mst_condition_init(&session->resource_free);
    mst_condition_init(&session->plan_made);
}

static mst_status session_create(mst_session *session, const mst_session_part_options *part) {
    mst_session_options *o = &session->options;
    const bool has_timeout = o->timeout > 0;
    MST_TRY(check_options(session));
    MST_TRY(make_devices(session, part));
    /* a caller that must return in time cannot run device 0 itself */
    const bool runs_all = has_timeout || part || session->devices.device[0].type->backend->settle;
    session->state_bytes = calloc((size_t)session->devices.count, sizeof *session->state_bytes);
    session->constant_bytes = calloc((size_t)session->devices.count, sizeof *session->constant_bytes);
    session->inside_bytes = calloc((size_t)session->devices.count, sizeof *session->inside_bytes);
    if (!session->state_bytes || !session->constant_bytes || !session->inside_bytes)
        return MST_NO_MEMORY("for a session");
    if (o->store) MST_TRY(mst_process_check(o->store->process, "store"));
    if (o->store)
        session->store = mst_store_retain(o->store);
    else
        MST_TRY(mst_store_create(&session->store));
    mst_store_set_timeout(session->store, o->timeout);
    MST_TRY(make_slots(session));
    session->host = (mst_plan_host){.devices = &session->devices, .options = o};
    /* one more than there may be steps: the end takes a place in the queue too */
    return mst_executor_create(&session->devices, o, session->num_slots + 1, runs_all, &session->executor);
}

static mst_status alloc_session(mst_graph *graph, const mst_session_options *options, mst_session **out) {
    mst_session *session = aligned_alloc(_Alignof(mst_session), sizeof *session);
    if (!session) return MST_NO_MEMORY("for a session");
    memset(session, 0, sizeof *session);
    if (options) session->options = *options;
    session->stop = (mst_errand_stop){session->options.stop, session->options.stop_context};
    session->graph = graph;
    session->process = mst_process_number();
    init_lock(session);
    *out = session;
    return MST_OK;
}

mst_status mst_session_create_in_other_tasks(mst_graph *graph, const mst_session_options *options,
                                             const mst_other_tasks_type *type, void *context, mst_session **out) {
    mst_session *session;
    MST_TRY(alloc_session(graph, options, &session));
    const mst_status status = check_options(session);
    if (status) {
        mst_session_destroy(session);
        return status;
    }
    session->other_tasks = type;
    session->other_tasks_context = context;
    *out = session;
    return MST_OK;
}

mst_status mst_session_create_here(mst_graph *graph, const mst_session_options *options, mst_session **out) {
    if (options && options->target)
        return MST_FAIL(MST_INTERNAL, "session: target '%s', where only this process has devices", options->target);
    return mst_session_create_with(graph, options, NULL, out);
}

mst_status mst_session_create_with(mst_graph *graph, const mst_session_options *options,
                                   const mst_session_part_options *part, mst_session **out) {
    if (MST_IS_NULL(graph) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    mst_session *session;
    MST_TRY(alloc_session(graph, options, &session));
    mst_status status = session_create(session, part);
    if (status)
        mst_session_destroy(session);
    else
        *out = session;
    return status;
}

/* ---- calls, and the end ---- */

void mst_session_join(mst_session *session, mst_task_group *group) {
    session->host.group = group;
}

mst_status mst_session_enter(mst_session *session) {
    MST_TRY(mst_process_check(session->process, "session"));
    atomic_fetch_add(&session->callers, 1);
    if (!atomic_load(&session->closing)) return MST_OK;
    atomic_fetch_sub(&session->callers, 1);
    return MST_FAIL(MST_CANCELLED, "session: another thread is destroying it");
}

void mst_session_leave(mst_session *session) {
    atomic_fetch_sub(&session->callers, 1);
}

mst_status mst_session_allocation_too_late(void) {
    return MST_FAIL(MST_DEADLINE,
                    "waited too long for another call of the session that asks a device for memory: "
                    "the device is stuck, or the timeout is too short");
}

mst_status mst_session_begin_allocation(mst_session *session, int64_t deadline) {
    bool in_time = true;
    pthread_mutex_lock(&session->lock);
    while (session->allocating && in_time) in_time = mst_session_wait(session, &session->resource_free, deadline);
    if (in_time) session->allocating = true;
    pthread_mutex_unlock(&session->lock);
    return in_time ? MST_OK : mst_session_allocation_too_late();
}

void mst_session_end_allocation(mst_session *session) {
    pthread_mutex_lock(&session->lock);
    session->allocating = false;
    pthread_cond_broadcast(&session->resource_free);
    pthread_mutex_unlock(&session->lock);
}

/* Waits until all calls have left. False if one does not end within the timeout of runs. */
static bool wait_for_callers(mst_session *session) {
    const struct timespec moment = {.tv_nsec = 200000};
    const int64_t deadline = mst_clock_after(session->options.timeout);
    atomic_store(&session->closing, true);
    while (atomic_load(&session->callers)) {
        if (mst_clock_now() >= deadline) return false;
        nanosleep(&moment, NULL);
    }
    return true;
}

static void free_slot(mst_session *session, mst_slot *slot) {
    for (int d = 0; slot->arena && d < session->devices.count; d++) {
        mst_domain *domain = session->devices.device[d].domain;
        if (slot->arena[d].data) domain->type->free(domain, slot->arena[d].data, (size_t)slot->arena[d].bytes);
        mst_pages_free(slot->arena[d].staging, (size_t)slot->arena[d].staging_bytes);
    }
    free(slot->arena);
    free_frame(&slot->frame, &session->devices);
    free(slot->feeds);
    free(slot->outputs);
}

void mst_session_change_graph(mst_session *session, mst_graph *graph) {
    while (session->num_plans) mst_session_forget_plan(session, session->plans[0]);
    session->graph = graph;
}

/* Called when mst_session_destroy returns while some devices of the session still work. */
static void be_outlived(void *owner) {
    mst_session *session = owner;
    pthread_mutex_lock(&session->lock);
    session->outlived = true;
    pthread_mutex_unlock(&session->lock);
}

static void free_session(void *owner) {
    mst_session *session = owner;
    mst_session_change_graph(session, NULL);
    for (int64_t i = 0; i < session->num_used; i++)
        mst_copy_release(session->store, session->used[i].state, session->used[i].copy);
    for (int i = 0; i < session->num_slots; i++) free_slot(session, &session->slots[i]);
    mst_session_part_destroy(session->part);
    mst_devices_free(&session->devices);
    mst_store_release(session->store);
    mst_pair_map_free(&session->copies);
    pthread_mutex_destroy(&session->lock);
    pthread_cond_destroy(&session->resource_free);
    pthread_cond_destroy(&session->plan_made);
    free(session->slots);
    free(session->plans);
    free(session->used);
    free(session->plan_pass);
    free(session->state_bytes);
    free(session->constant_bytes);
    free(session->inside_bytes);
    free(session);
}

void mst_session_destroy(mst_session *session) {
    /* In a child process there are no threads to end, and locks that they held stay locked. */
    if (!session || mst_process_check(session->process, "session") || !wait_for_callers(session)) return;
    if (session->other_tasks) session->other_tasks->destroy(session->other_tasks_context);
    if (session->executor)
        mst_executor_destroy(session->executor, session->options.timeout,
                             &(mst_executor_end){.late = be_outlived, .ended = free_session, .owner = session});
    else
        free_session(session);
}

mst_store *mst_session_store(const mst_session *session) {
    if (MST_IS_NULL(session)) return NULL;
    return session->store;
}

/* ---- describing a session ---- */

int mst_session_num_devices(const mst_session *session) {
    if (MST_IS_NULL(session)) return 0;
    if (session->other_tasks) return session->other_tasks->num_devices(session->other_tasks_context);
    return mst_devices_num_listed(&session->devices);
}

const char *mst_session_device(const mst_session *session, int i) {
    if (MST_IS_NULL(session)) return "";
    if (session->other_tasks) return session->other_tasks->device(session->other_tasks_context, i);
    const int place = mst_devices_listed(&session->devices, i);
    return place >= 0 ? session->devices.device[place].text : "";
}

int64_t mst_session_device_memory(const mst_session *session, int i) {
    if (MST_IS_NULL(session)) return 0;
    const int place = mst_devices_listed(&session->devices, i);
    if (place < 0) return 0;
    int64_t bytes = session->state_bytes[place] + session->constant_bytes[place] + session->inside_bytes[place];
    for (int k = 0; k < session->num_slots; k++)
        bytes += session->slots[k].arena[place].bytes + session->slots[k].frame.strings[place].bytes;
    return bytes;
}

static void print_device(const mst_session *session, int i, FILE *out) {
    const mst_device *device = &session->devices.device[mst_devices_listed(&session->devices, i)];
    const char *name = strstr(device->text, "device:");
    mst_device_info info;
    if (mst_device_inform(device, &info)) info.memory = info.memory_in_use = 0; /* the plugin gives no numbers */
    const int64_t in_use = info.memory_in_use > 0 ? info.memory_in_use : mst_session_device_memory(session, i),
                  limit = device->memory_limit > 0 ? device->memory_limit : info.memory;
    mst_make_plain(info.kind);
    fprintf(out, "%s %" PRId64 " %" PRId64 " %s\n", name ? name + strlen("device:") : device->text, in_use,
            limit > 0 ? limit : 0, info.kind);
}

char *mst_session_print_devices(const mst_session *session) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    for (int i = 0; i < mst_session_num_devices(session); i++) print_device(session, i, out);
    const bool failed = ferror(out);
    if (fclose(out) == 0 && !failed) return text;
    free(text);
    return NULL;
}

int64_t mst_session_copied_bytes(const mst_session *session) {
    if (MST_IS_NULL(session)) return 0;
    return atomic_load(&session->copied);
}

int64_t mst_session_runs_alone(const mst_session *session) {
    if (MST_IS_NULL(session)) return 0;
    return atomic_load(&session->runs_alone);
}

bool mst_session_updates_in_place(const mst_session *session) {
    if (MST_IS_NULL(session)) return false;
    return atomic_load(&session->updates_in_place);
}

int64_t mst_session_num_plans(const mst_session *session) {
    if (MST_IS_NULL(session)) return 0;
    if (session->other_tasks) return session->other_tasks->num_plans(session->other_tasks_context);
    return session->plans_made;
}

mst_plan_info mst_session_plan_info(mst_session *session) {
    if (MST_IS_NULL(session)) return (mst_plan_info){0};
    if (mst_session_enter(session)) return (mst_plan_info){0};
    pthread_mutex_lock(&session->lock);
    const mst_plan_info info = session->num_plans ? mst_plan_describe(session->plans[0]->plan) : (mst_plan_info){0};
    pthread_mutex_unlock(&session->lock);
    mst_session_leave(session);
    return info;
}
