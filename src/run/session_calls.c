/* A call of a session, from its feeds to its outputs.
 *
 *   caller    check the call, find its plan, prepare the outputs
 *      |      under the session's lock: take a slot, bind the plan's addresses there, take a turn in the store,
 *      |      put the frame on the queues of its devices
 *      |      wait for the turn, check that all entries to read have values, number the step, open the frame
 *   devices   run their programs (executor.c); the caller may be one of them
 *   caller    wait for them until the deadline; then release the frame and its slot
 *
 * A frame whose devices have not come back by the deadline is given up: the call ends with an error, and the last
 * device to leave releases the frame. Until then the slot, and all that the frame holds, is in use. */
#include "run/session.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/argument.h"
#include "base/clock.h"
#include "graph/spec.h"
#include "run/gate.h"
#include "tensor/string.h"
#include "tensor/tensor_check.h"

mst_status mst_session_check_call(const mst_graph *graph, const mst_feed *feeds, int num_feeds,
                                  const mst_value *fetches, int num_fetches) {
    MST_TRY(mst_graph_check(graph));
    for (int i = 0; i < num_feeds; i++) {
        if (mst_value_is_none(feeds[i].value) || mst_value_graph(feeds[i].value) != graph)
            return MST_FAIL(MST_INVALID, "run: feed %d is no value of the session's graph", i);
        if (!feeds[i].tensor == !feeds[i].fill)
            return MST_FAIL(MST_INVALID, "run: the feed of '%s' needs a tensor or a fill function, and not both",
                            mst_value_name(feeds[i].value));
        if (feeds[i].tensor && mst_tensor_check_strings(feeds[i].tensor))
            return mst_error_prefix("run: the feed of '%s'", mst_value_name(feeds[i].value));
        int64_t count;
        if (feeds[i].fill && mst_tensor_check(feeds[i].spec.dtype, feeds[i].spec.shape, &count))
            return mst_error_prefix("run: the feed of '%s'", mst_value_name(feeds[i].value));
    }
    for (int i = 0; i < num_fetches; i++)
        if (mst_value_is_none(fetches[i]) || mst_value_graph(fetches[i]) != graph)
            return MST_FAIL(MST_INVALID, "run: fetch %d is no value of the session's graph", i);
    return MST_OK;
}

/* Whether this task has a value for fetch I; *SPEC is its spec. */
static bool is_wanted(const mst_plan *plan, int i, mst_spec *spec) {
    const mst_plan_node *fetch = &plan->node[plan->fetch_node[i]];
    if (!fetch->num_src || mst_plan_is_in_another_task(plan, fetch)) return false;
    *spec = plan->value[fetch->src[0]].spec;
    return true;
}

/* Whether the caller's tensor can take the value. */
static bool is_reusable(const mst_tensor *output, const mst_spec *spec) {
    if (!output || !mst_tensor_owns(output) || mst_tensor_references(output) != 1) return false;
    const mst_spec own = mst_spec_of(output);
    return mst_spec_equal(&own, spec);
}

/* Checks that there is memory for the new outputs. Small outputs are not checked, because it takes time to find out how
 * much memory the process has. */
static mst_status check_outputs(mst_session *session, const mst_cached_plan *cached, mst_tensor *const *outputs) {
    enum { SMALL = 1 << 20 };
    int64_t bytes = 0;
    mst_spec spec;
    for (int i = 0; i < cached->plan->num_fetches; i++)
        if (is_wanted(cached->plan, i, &spec) && !is_reusable(outputs[i], &spec))
            bytes += mst_shape_count(spec.shape) * (int64_t)mst_dtype_size(spec.dtype);
    if (bytes <= SMALL) return MST_OK;
    pthread_mutex_lock(&session->lock);
    const mst_status status = mst_session_check_outputs(session, cached, bytes);
    pthread_mutex_unlock(&session->lock);
    return status;
}

/* Makes a tensor for each fetch that has a value. The caller's own is used if it fits. */
static mst_status prepare_outputs(mst_session *session, const mst_cached_plan *cached, mst_tensor **outputs) {
    if (!outputs) return MST_OK;
    MST_TRY(check_outputs(session, cached, outputs));
    for (int i = 0; i < cached->plan->num_fetches; i++) {
        mst_tensor *fresh = NULL;
        mst_spec spec;
        if (is_wanted(cached->plan, i, &spec)) {
            if (is_reusable(outputs[i], &spec)) continue;
            MST_TRY(mst_tensor_create(spec.dtype, spec.shape, &fresh));
        }
        mst_tensor_release(outputs[i]);
        outputs[i] = fresh;
    }
    return MST_OK;
}

static const char when_late[] = "raise the timeout, or look for what is slow or stuck";

/* Sets the error of a run whose time is up: it names the node of FRAME that has not come back, or has not ended. The
 * text WHOSE says in which run this node is. Returns false, without an error, if FRAME waits for no node. */
static bool tell_pending(mst_frame *frame, const char *whose, double seconds) {
    int d;
    bool late;
    const int32_t node = mst_frame_pending(frame, &d, &late);
    if (node < 0) return false;
    const mst_plan_node *n = &frame->plan->node[node];
    const char *device = frame->devices->device[d].text;
    MST_FAIL(MST_DEADLINE, "the run did not end in %g s: '%s' (%s) on %s%s has not %s: %s", seconds, n->name,
             n->op->name, device, whose, late ? "ended" : "come back", when_late);
    mst_error_at(n->name, device);
    return true;
}

/* The same for the frames of other runs, which may keep the devices of this run waiting. Call it under the lock. */
static bool tell_other_pending(mst_session *session, const mst_slot *own) {
    for (int i = 0; i < session->num_slots; i++) {
        mst_slot *other = &session->slots[i];
        if (other != own && other->cached && tell_pending(&other->frame, " in another run", session->options.timeout))
            return true;
    }
    return false;
}

/* The error of a run whose time is up. If its devices are just leaving, it is the error of the frame, if there is
 * one. */
static mst_status too_late(mst_slot *slot) {
    mst_session *session = slot->session;
    mst_frame *frame = &slot->frame;
    const double seconds = session->options.timeout;
    if (tell_pending(frame, "", seconds)) return MST_DEADLINE;
    pthread_mutex_lock(&frame->lock);
    const mst_status status = frame->failure.code ? mst_failure_restore(&frame->failure) : MST_OK;
    pthread_mutex_unlock(&frame->lock);
    if (status) return status;
    pthread_mutex_lock(&session->lock);
    const bool told = tell_other_pending(session, slot);
    pthread_mutex_unlock(&session->lock);
    if (told) return MST_DEADLINE;
    return MST_FAIL(MST_DEADLINE, "the run did not end in %g s: %s", seconds, when_late);
}

/* Waits at most a second at a time, because a clock that a test has replaced does not wake this thread. */
bool mst_session_wait(mst_session *session, pthread_cond_t *condition, int64_t deadline) {
    const int64_t left = deadline - mst_clock_now();
    if (left <= 0) return false;
    const struct timespec until = mst_clock_timespec(left < 1000000000 ? left : 1000000000);
    pthread_cond_timedwait(condition, &session->lock, &until);
    return true;
}

/* Whether device D receives strings, and the slot's last step needed several blocks of memory for them. */
static bool has_split_strings(const mst_slot *slot, const mst_cached_plan *cached, int32_t d) {
    return cached->plan->program[d].receives_strings && mst_string_memory_is_split(&slot->frame.strings[d]);
}

/* Whether CACHED can run in slot INDEX without first allocating memory of a device. */
static bool is_ready(const mst_session *session, const mst_cached_plan *cached, int index) {
    bool ready = mst_session_is_bound(session, cached, index);
    for (int32_t i = 0; i < cached->num_devices && ready; i++)
        ready = !has_split_strings(&session->slots[index], cached, cached->devices[i]);
    return ready;
}

/* Finds a free slot, if possible one in which CACHED can run at once. *READY: it can run at once. -1: none is free. */
static int find_free_slot(const mst_session *session, const mst_cached_plan *cached, bool *ready) {
    int found = -1;
    *ready = false;
    for (int i = 0; i < session->num_slots && !*ready; i++) {
        if (session->slots[i].busy) continue;
        found = i;
        *ready = is_ready(session, cached, i);
    }
    return found;
}

/* Takes a slot for CACHED. If the plan is not READY to run there, also begins an allocation. Both are done together, so
 * that no call holds a slot that others could use while it waits for an allocation. */
static mst_status take_slot(mst_session *session, const mst_cached_plan *cached, int64_t deadline, int *out,
                            bool *ready) {
    for (;;) {
        *out = find_free_slot(session, cached, ready);
        if (*out >= 0 && (*ready || !session->allocating)) break;
        if (mst_session_wait(session, &session->resource_free, deadline)) continue;
        if (*out >= 0) return mst_session_allocation_too_late();
        if (tell_other_pending(session, NULL)) return MST_DEADLINE;
        return MST_FAIL(MST_DEADLINE,
                        "waited %g s for other runs of the session to end: raise the timeout, or num_frames, the runs "
                        "that may be under way at once",
                        session->options.timeout);
    }
    session->slots[*out].busy = true;
    session->allocating |= !*ready;
    return MST_OK;
}

/* Lets the frame hold feeds and outputs of the call until the last device has left. The feeds are retained already. */
static mst_status hold(mst_slot *slot, const mst_feed *feeds, int num_feeds, mst_tensor *const *outputs,
                       int num_fetches) {
    MST_TRY(mst_grow(&slot->feeds, sizeof *slot->feeds, num_feeds + 1, &slot->feed_capacity));
    MST_TRY(mst_grow(&slot->outputs, sizeof *slot->outputs, num_fetches + 1, &slot->output_capacity));
    if (num_feeds) memcpy(slot->feeds, feeds, (size_t)num_feeds * sizeof *feeds);
    for (int i = 0; i < num_fetches; i++)
        slot->outputs[i] = outputs && outputs[i] ? mst_tensor_retain(outputs[i]) : NULL;
    return MST_OK;
}

/* Takes back the number of a run that has failed. Then later runs get the same random numbers as if this run had never
 * begun. Does nothing if another run has taken a number since. */
static void give_number_back(mst_session *session, const mst_step *step) {
    if (step->number >= 0 || session->part) return;
    uint64_t next = (uint64_t)-step->number; /* run n has the number -1 - n; `runs` became n + 1 when it got it */
    atomic_compare_exchange_strong(&session->store->runs, &next, next - 1);
}

/* Gives the written entries their new version, when the caller and all devices have left. True if the step has
 * happened. */
static bool commit_frame(mst_frame *frame) {
    mst_slot *slot = frame->owner;
    const bool happened = atomic_load(&frame->decision) == MST_HAPPENS && slot->cached->plan->commits;
    if (happened) mst_session_commit_states(slot->session, slot->cached, frame);
    return happened;
}

/* Marks the slot as free. Call it under the lock. */
static void give_slot_back(mst_session *session, mst_slot *slot) {
    slot->busy = false;
    slot->cached = NULL;
    pthread_cond_broadcast(&session->resource_free);
}

/* Ends a committed frame: its turn is over, and its slot is free again. */
static void release_frame(mst_frame *frame) {
    mst_slot *slot = frame->owner;
    mst_session *session = slot->session;
    mst_cached_plan *cached = slot->cached;
    for (int i = 0; i < cached->num_feeds; i++) mst_tensor_release(slot->feeds[i].tensor);
    for (int i = 0; i < cached->num_fetches; i++) mst_tensor_release(slot->outputs[i]);
    if (atomic_load(&frame->failed)) give_number_back(session, &frame->step);
    if (frame->has_turn) mst_turn_end(&frame->turn);
    if (frame->part) mst_session_part_end_run(frame->part);
    mst_run_notes_free(frame->notes);
    frame->notes = NULL;
    pthread_mutex_lock(&session->lock);
    give_slot_back(session, slot);
    pthread_mutex_unlock(&session->lock);
    mst_cached_plan_release(session, cached);
}

/* Commits and releases a frame that the caller has given up. The last device to leave it calls this. */
static void end_late(mst_frame *frame) {
    commit_frame(frame);
    release_frame(frame);
}

static void begin_frame(mst_session *session, mst_slot *slot, int index, const mst_call_purpose *purpose) {
    mst_frame *frame = &slot->frame;
    mst_cached_plan *cached = slot->cached;
    frame->plan = cached->plan;
    frame->instance = cached->bound[index].instance;
    frame->binding = &cached->bound[index].binding;
    frame->feeds = slot->feeds;
    frame->outputs = slot->outputs;
    frame->release = end_late;
    frame->owner = slot;
    frame->number++;
    frame->caller_runs = !mst_executor_runs_all(session->executor);
    frame->touch = cached->touched ? NULL : cached->touch;
    frame->num_touches = cached->num_touches;
    if (frame->touch) frame->all_touched = mst_timeline_value(&frame->touched) + (uint64_t)cached->num_devices;
    cached->touched = true;
    frame->participants = cached->num_devices;
    frame->failure.code = MST_OK;
    frame->step.number = 0;
    frame->prepared = false;
    frame->exchange = cached->bound[index].exchange;
    if (cached->plan->num_exchanges) frame->exchange_run = mst_group_next_run(session->host.group);
    atomic_store(&frame->decision, MST_UNDECIDED);
    atomic_store(&frame->arrived, 0);
    atomic_store(&frame->failed, false);
    for (int32_t i = 0; i < cached->num_devices; i++) {
        const int32_t d = cached->devices[i];
        atomic_store(&frame->at[d], -1);
        frame->stop[d].call = INT64_MAX;
        atomic_store(&frame->stop[d].point, INT32_MAX);
        if (cached->plan->program[d].receives_strings)
            mst_string_memory_begin(&frame->strings[d], mst_session_string_room(session, d, &frame->strings[d]));
    }
    frame->part_run = purpose->part_run;
    if (frame->part) mst_session_part_begin_run(frame->part, frame);
    const mst_bound_plan *bound = &cached->bound[index];
    for (int64_t i = 0; i < bound->num_patches; i++)
        *bound->patch[i].data =
            (char *)mst_tensor_data(slot->feeds[bound->patch[i].feed].tensor) + bound->patch[i].shift;
    slot->alone = cached->can_run_alone && !frame->touch && mst_threading_choice_is_alone(&cached->threading);
    if (slot->alone)
        mst_executor_submit(session->executor, frame, NULL, 0);
    else
        mst_executor_submit(session->executor, frame, cached->devices, cached->num_devices);
}

/* Sets the number of the step, from which random ops take their numbers. */
static mst_status number_step(mst_session *session, mst_slot *slot, const mst_call_purpose *purpose) {
    const mst_cached_plan *cached = slot->cached;
    const int32_t state = cached->plan->step_state;
    const int32_t owner = state < 0 ? -1 : session->devices.device[cached->plan->state[state].device].task;
    mst_step *step = &slot->frame.step;
    step->seed = mst_graph_seed(session->graph);
    step->number = 0;
    if (purpose->initial) return MST_OK;
    if (state < 0) { /* the plan counts no steps, so the random ops of its runs get numbers below 0 */
        step->number = session->part ? purpose->random : -1 - (int64_t)atomic_fetch_add(&session->store->runs, 1);
        return MST_OK;
    }
    if (owner == session->devices.self) {
        const mst_copy *copy = cached->copy[state];
        MST_TRY(mst_domain_copy(&mst_domain_host, &step->number, copy->domain, copy->data, sizeof step->number));
    }
    return session->part ? mst_session_part_share_step(&slot->frame, owner) : MST_OK;
}

/* Whether another session has given a value to a variable that this plan was to give its first value. Called in a turn
 * that has begun. */
static bool is_overtaken(const mst_cached_plan *cached) {
    for (int64_t i = 0; i < cached->plan->num_states; i++)
        if (cached->state[i] && cached->plan->state[i].writes && cached->state[i]->version) return true;
    return false;
}

/* Waits until the devices have touched new memory. They do that as soon as the frames before this one are done. */
static mst_status wait_for_touches(mst_slot *slot) {
    mst_frame *frame = &slot->frame;
    if (frame->caller_runs && slot->cached->devices[0] == 0) mst_frame_touch(frame, 0);
    if (mst_timeline_wait(&frame->touched, frame->all_touched, frame->deadline, frame->spin)) return MST_OK;
    return MST_FAIL(MST_DEADLINE, "waited too long for the steps before this one");
}

/* Waits for the turn of a frame that is on the queues, and opens the frame. Runs on the caller's thread. */
static void open_frame(mst_session *session, mst_slot *slot, mst_call_purpose *purpose) {
    mst_frame *frame = &slot->frame;
    mst_status status = frame->has_turn ? mst_turn_begin(&frame->turn, frame->deadline) : MST_OK;
    if (!status && purpose->initial && (purpose->overtaken = is_overtaken(slot->cached)))
        status = MST_FAIL(MST_CANCELLED, "another session has given the variables their first values");
    if (!status && frame->touch) status = wait_for_touches(slot);
    if (!status) status = mst_session_check_states(session, slot->cached, frame->deadline);
    if (!status) status = number_step(session, slot, purpose);
    if (status) mst_frame_fail(frame, status, -1, -1, atomic_load(&frame->failed));
    mst_timeline_advance(&frame->ready, frame->number);
}

/* Waits for the devices. True if all left before the deadline. A step that is changing variables at the deadline is not
 * stopped: it gets the timeout once more. */
static bool wait_for_devices(mst_slot *slot, mst_failure *late) {
    mst_frame *frame = &slot->frame;
    if (mst_timeline_wait(&frame->left, frame->number, frame->deadline, frame->spin)) return true;
    mst_failure_keep(late, too_late(slot));
    if (mst_frame_stop(frame)) {
        mst_frame_fail(frame, late->code, -1, -1, false);
        return false;
    }
    if (mst_timeline_wait(&frame->left, frame->number, frame->longer, frame->spin)) return true;
    mst_failure_keep(late, too_late(slot));
    return false;
}

/* Notes when the programs ran that devices have started. */
static void note_programs(mst_frame *frame, const mst_cached_plan *cached) {
    for (int32_t i = 0; i < cached->num_devices; i++) {
        const int32_t d = cached->devices[i];
        const mst_backend *backend = frame->devices->device[d].type->backend;
        if (backend->note_programs && frame->instance[d]) backend->note_programs(frame->instance[d], frame);
    }
}

/* Adds a traced run that succeeded to the trace. */
static void keep_notes(mst_session *session, mst_frame *frame, const mst_cached_plan *cached) {
    note_programs(frame, cached);
    pthread_mutex_lock(&session->lock);
    mst_trace *trace = session->trace;
    pthread_mutex_unlock(&session->lock);
    if (trace) mst_trace_add(trace, frame->plan, frame->step.number, frame->notes);
}

/* Reports to the choice of threading how long the devices took for a run that succeeded. */
static void keep_time(mst_session *session, const mst_slot *slot, int64_t began) {
    const int64_t now = mst_clock_now();
    if (slot->alone) atomic_fetch_add(&session->runs_alone, 1);
    pthread_mutex_lock(&session->lock);
    mst_threading_choice_add(&slot->cached->threading, slot->alone, now - began, now);
    pthread_mutex_unlock(&session->lock);
}

mst_status mst_session_run_slot(mst_session *session, mst_slot *slot, mst_call_purpose *purpose) {
    mst_frame *frame = &slot->frame;
    const mst_cached_plan *cached = slot->cached;
    mst_failure late;
    open_frame(session, slot, purpose);
    const int64_t began = cached->can_run_alone ? mst_clock_now() : 0;
    if (slot->alone)
        mst_executor_run_alone(frame, cached->devices, cached->num_devices);
    else if (cached->num_devices && cached->devices[0] == 0)
        mst_executor_run_own(session->executor, frame);
    if (!wait_for_devices(slot, &late) && mst_frame_give_up(frame)) return mst_failure_restore(&late);
    const bool happened = commit_frame(frame);
    mst_status status = atomic_load(&frame->failed) ? mst_failure_restore(&frame->failure) : MST_OK;
    if (status && happened) status = mst_session_tell_torn(session->store, cached);
    if (frame->notes && !status) keep_notes(session, frame, cached);
    if (cached->can_run_alone && !status) keep_time(session, slot, began);
    release_frame(frame);
    return status;
}

/* Makes a slot ready for the plan and ends the allocation that take_slot began. The lock is released meanwhile. */
static mst_status prepare_slot(mst_session *session, mst_cached_plan *cached, int index) {
    mst_slot *slot = &session->slots[index];
    mst_status status = MST_OK;
    pthread_mutex_unlock(&session->lock);
    if (!mst_session_is_bound(session, cached, index)) status = mst_session_bind(session, cached, index);
    for (int32_t i = 0; i < cached->num_devices && !status; i++) {
        const int32_t d = cached->devices[i];
        mst_string_memory *strings = &slot->frame.strings[d];
        if (has_split_strings(slot, cached, d))
            mst_string_memory_join(strings, session->devices.device[d].domain,
                                   mst_session_string_room(session, d, strings));
    }
    mst_session_end_allocation(session);
    pthread_mutex_lock(&session->lock);
    return status;
}

static mst_status prepare_frame(mst_session *session, const mst_cached_plan *cached, int64_t deadline,
                                mst_frame *frame) {
    frame->deadline = deadline;
    frame->longer = deadline + (int64_t)(session->options.timeout * 1e9);
    frame->has_turn = cached->num_uses > 0;
    mst_run_notes_free(frame->notes); /* notes of an earlier call that was refused */
    frame->notes = NULL;
    return session->trace ? mst_run_notes_create(cached->plan, &frame->notes) : MST_OK;
}

/* Takes a slot, which from then on holds feeds and outputs of the call, and puts its frame on the queues. All this
 * happens under the lock, so turns in the store have the same order as frames on the queues. */
static mst_status submit(mst_session *session, mst_cached_plan *cached, const mst_call_purpose *purpose,
                         int64_t deadline, const mst_feed *feeds, mst_tensor **outputs, mst_slot **out) {
    int index;
    bool ready;
    MST_TRY(take_slot(session, cached, deadline, &index, &ready));
    mst_slot *slot = &session->slots[index];
    mst_status status = ready ? MST_OK : prepare_slot(session, cached, index);
    if (!status) status = prepare_frame(session, cached, deadline, &slot->frame);
    if (!status) status = hold(slot, feeds, cached->num_feeds, outputs, cached->num_fetches);
    if (status) {
        give_slot_back(session, slot);
        return status;
    }
    if (cached->num_uses) mst_turn_take(session->store, cached->bound[index].use, cached->num_uses, &slot->frame.turn);
    slot->cached = cached;
    begin_frame(session, slot, index, purpose);
    *out = slot;
    return MST_OK;
}

mst_status mst_session_submit(mst_session *session, mst_cached_plan *cached, const mst_call_purpose *purpose,
                              int64_t deadline, const mst_feed *feeds, mst_tensor **outputs, mst_slot **out) {
    /* Feeds are retained. So an output that is also fed is neither overwritten nor freed before the end. */
    for (int i = 0; i < cached->num_feeds; i++)
        if (feeds[i].tensor) mst_tensor_retain(feeds[i].tensor);
    mst_status status = prepare_outputs(session, cached, outputs);
    pthread_mutex_lock(&session->lock);
    if (!status) status = submit(session, cached, purpose, deadline, feeds, outputs, out);
    pthread_mutex_unlock(&session->lock);
    for (int i = 0; i < cached->num_feeds && status; i++) mst_tensor_release(feeds[i].tensor);
    return status;
}

mst_status mst_session_call(mst_session *session, mst_call_purpose *purpose, const mst_feed *feeds, int num_feeds,
                            const mst_value *fetches, int num_fetches, mst_tensor **outputs) {
    const int64_t deadline = mst_clock_after(session->options.timeout);
    mst_cached_plan *cached;
    mst_slot *slot = NULL;
    MST_TRY(mst_graph_read_begin(session->graph));
    mst_status status = mst_session_check_call(session->graph, feeds, num_feeds, fetches, num_fetches);
    if (!status) status = mst_session_plan(session, feeds, num_feeds, fetches, num_fetches, deadline, &cached);
    mst_graph_read_end(session->graph);
    MST_TRY(status);
    status = mst_session_submit(session, cached, purpose, deadline, feeds, outputs, &slot);
    if (purpose->once) mst_session_forget_plan(session, cached);
    if (status) mst_cached_plan_release(session, cached);
    return status ? status : mst_session_run_slot(session, slot, purpose);
}

mst_status mst_session_run(mst_session *session, const mst_feed *feeds, int num_feeds, const mst_value *fetches,
                           int num_fetches, mst_tensor **outputs) {
    if (MST_IS_NULL(session) || (num_feeds > 0 && MST_IS_NULL(feeds)) || (num_fetches > 0 && MST_IS_NULL(fetches)))
        return MST_INVALID;
    if (num_feeds < 0 || num_fetches < 0)
        return MST_FAIL(MST_INVALID, "run: %d feeds and %d fetches, must be 0 or more", num_feeds, num_fetches);
    MST_TRY(mst_session_enter(session));
    const mst_status status =
        session->other_tasks
            ? session->other_tasks->run(session->other_tasks_context, feeds, num_feeds, fetches, num_fetches, outputs)
            : mst_session_call(session, &(mst_call_purpose){0}, feeds, num_feeds, fetches, num_fetches, outputs);
    mst_session_leave(session);
    return status;
}

void mst_session_trace(mst_session *session, mst_trace *trace) {
    if (MST_IS_NULL(session)) return;
    pthread_mutex_lock(&session->lock);
    session->trace = trace;
    pthread_mutex_unlock(&session->lock);
}
