/* A part: a session whose plans also have devices of other tasks. One thread submits its runs, in the common order of
 * all tasks; another thread finishes them. A third thread delivers messages and decisions from other tasks. */
#include "run/part.h"

#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/no_memory.h"
#include "graph/spec.h"
#include "run/gate.h"
#include "run/session.h"

mst_status mst_session_create_part(mst_graph *graph, const mst_session_options *options,
                                   const mst_session_part_options *part, mst_session **out) {
    if (MST_IS_NULL(options) || MST_IS_NULL(part)) return MST_INVALID;
    if (options->num_frames > 1)
        return MST_FAIL(MST_INVALID, "a session over several tasks has one run under way at a time, not %d",
                        options->num_frames);
    return mst_session_create_with(graph, options, part, out);
}

/* ---- plans ---- */

mst_status mst_session_part_make_plan(mst_session *session, const mst_feed *feeds, int num_feeds,
                                      const mst_value *fetches, int num_fetches, mst_cached_plan **out) {
    *out = NULL;
    MST_TRY(mst_session_enter(session));
    mst_status status = mst_graph_read_begin(session->graph);
    if (!status) {
        status = mst_graph_check(session->graph);
        if (!status)
            status = mst_session_plan(session, feeds, num_feeds, fetches, num_fetches,
                                      mst_clock_after(session->options.timeout), out);
        mst_graph_read_end(session->graph);
    }
    mst_session_leave(session);
    return status;
}

mst_session_part_plan_info mst_session_part_describe_plan(const mst_cached_plan *cached) {
    const mst_plan *plan = cached->plan;
    return (mst_session_part_plan_info){.hash = plan->order_hash,
                                        .runs_on = plan->runs_on,
                                        .feed_task = plan->feed_task,
                                        .fetch_task = plan->fetch_task,
                                        .commits = plan->commits,
                                        .has_step = plan->step_state >= 0};
}

void mst_session_part_release_plan(mst_session *session, mst_cached_plan *cached, bool forget) {
    if (!cached) return;
    if (forget) mst_session_forget_plan(session, cached);
    mst_cached_plan_release(session, cached);
}

/* ---- runs ---- */

/* Fills FEEDS for a run. Feeds that this task needs get their tensors, which are checked against the plan. Other feeds
 * get no tensor. */
static mst_status list_feeds(const mst_cached_plan *cached, const mst_session_part_run *run, mst_feed *feeds) {
    for (int i = 0; i < cached->num_feeds; i++) {
        const bool needed = cached->plan->feed_task[i] == cached->plan->host->devices->self;
        feeds[i] = (mst_feed){.value = cached->feeds[i].value, .tensor = needed ? run->feed[i] : NULL};
        const mst_spec given = feeds[i].tensor ? mst_spec_of(feeds[i].tensor) : cached->feeds[i].spec;
        if (!needed || (feeds[i].tensor && mst_spec_equal(&given, &cached->feeds[i].spec))) continue;
        return MST_FAIL(MST_INVALID, "run: the feed of '%s' is not what the plan was made for",
                        mst_value_name(feeds[i].value));
    }
    return MST_OK;
}

static mst_call_purpose purpose_of(const mst_session_part_run *run) {
    return (mst_call_purpose){.initial = run->initial, .part_run = run->number, .random = run->random};
}

mst_status mst_session_part_submit(mst_session *session, mst_cached_plan *cached, const mst_session_part_run *run) {
    mst_session_part *part = session->part;
    MST_TRY(mst_session_enter(session)); /* mst_session_leave is called at the end of the run */
    mst_feed *feeds = calloc((size_t)cached->num_feeds + 1, sizeof *feeds);
    mst_status status = feeds ? list_feeds(cached, run, feeds) : MST_NO_MEMORY("for a run");
    if (!status && part->slot) status = MST_FAIL(MST_INVALID, "run: another run of the session is under way");
    if (!status) {
        part->purpose = purpose_of(run);
        pthread_mutex_lock(&session->lock);
        cached->references++; /* the run's reference */
        pthread_mutex_unlock(&session->lock);
        status = mst_session_submit(session, cached, &part->purpose, mst_clock_after(run->seconds), feeds, run->output,
                                    &part->slot);
        if (status) mst_cached_plan_release(session, cached);
    }
    free(feeds);
    if (status) mst_session_leave(session);
    return status;
}

mst_status mst_session_part_finish(mst_session *session, bool *derived, bool *overtaken) {
    mst_session_part *part = session->part;
    *derived = *overtaken = false;
    mst_slot *slot = part->slot;
    if (!slot) return MST_FAIL(MST_INVALID, "run: none is under way");
    const mst_status status = mst_session_run_slot(session, slot, &part->purpose);
    part->slot = NULL;
    pthread_mutex_lock(&slot->frame.lock);
    *derived = status && slot->frame.failure.derived;
    pthread_mutex_unlock(&slot->frame.lock);
    *overtaken = part->purpose.overtaken;
    mst_session_leave(session);
    return status;
}

/* ---- messages and decisions from other tasks ---- */

mst_status mst_session_part_deliver(mst_session *session, int32_t from, uint64_t run, int32_t stream, const void *data,
                                    size_t bytes) {
    return mst_session_part_receive_message(session->part, from, run, stream, data, bytes);
}

void mst_session_part_decide(mst_session *session, uint64_t run, const mst_failure *failure) {
    mst_session_part *part = session->part;
    pthread_mutex_lock(&part->running);
    if (part->frame && part->frame->part_run == run) {
        if (failure) mst_frame_fail(part->frame, mst_failure_restore(failure), -1, -1, true);
        mst_gate_decide_together(part->frame, !failure);
    }
    pthread_mutex_unlock(&part->running);
}
