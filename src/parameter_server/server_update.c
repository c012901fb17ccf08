/* Taking gradients. In an asynchronous job the gradients of one worker make an update at once. In a synchronous job
 * they are kept, and an update is made when the gradients of enough workers are there.
 *
 * Gradients are dropped if they come too late: after the last step, or, in a synchronous job, for a step that others
 * have already made. They are also dropped if they were applied before and are sent again. */
#include "parameter_server/server_state.h"

#include "base/clock.h"

/* Tells worker TO that its gradients have come. Unless values are given in turn, the values themselves tell the
 * worker. */
static mst_status send_taken(mst_server *s, int32_t to) {
    const mst_task_message_head head = {.kind = MST_PS_TAKEN, .round = s->round, .request = s->worker[to].request};
    return s->job.in_turn ? mst_mail_send(s->mail, to, &head, NULL, 0, NULL) : MST_OK;
}

mst_status mst_server_want(mst_server *s, const mst_task_message *message) {
    mst_server_worker *w = &s->worker[message->from];
    if (message->head.round != s->round) return mst_server_send_empty(s, message->from, w->request);
    if (message->head.number == 0) return send_taken(s, message->from);
    w->wants = true;
    w->held |= !w->gradients; /* not while its gradients are kept, as in a replay until their turn */
    return mst_server_answer_held(s);
}

/* ---- gradients ---- */

/* Makes an update with the gradients of *MESSAGE alone. Before the worker gets values, it is told that its gradients
 * are no longer read, so that it may overwrite them. */
static mst_status update_alone(mst_server *s, mst_task_message **message) {
    const int32_t from = (*message)->from;
    MST_TRY(mst_server_apply(s, *message));
    mst_task_message_free(*message);
    *message = NULL;
    MST_TRY(send_taken(s, from));
    return mst_server_answer_held(s);
}

mst_status mst_server_make_update(mst_server *s) {
    MST_TRY(mst_server_apply_together(s));
    return mst_server_answer_waiting(s);
}

/* The error if WORKER has sent gradients for a further step after another worker has ended the training. If each step
 * needs the gradients of all workers, all must make their last step together. */
static mst_status check_together(mst_server *s, int32_t worker) {
    char name[sizeof s->text];
    if (s->job.aggregate < s->num_workers || !s->worker[worker].gradients) return MST_OK;
    for (int32_t w = 0; w < s->num_workers; w++) {
        if (!s->worker[w].finished) continue;
        mst_mail_name(s->mail, w, name, sizeof name);
        return MST_FAIL(MST_INVALID,
                        "a callback of %s has ended the training after step %lld, but %s goes on: synchronous updates "
                        "need all workers, so callbacks must end the training at the same step on all of them",
                        name, (long long)s->step, mst_server_name(s, worker));
    }
    return MST_OK;
}

mst_status mst_server_is_update_due(mst_server *s, bool *due) {
    const int32_t count = mst_server_count_gradients(s);
    int32_t active = 0;
    for (int32_t w = 0; w < s->num_workers; w++) MST_TRY(check_together(s, w));
    for (int32_t w = 0; w < s->num_workers; w++) active += !s->worker[w].left && !s->worker[w].finished;
    *due = !s->end.is_closed && count > 0 && (count >= s->job.aggregate || count >= active);
    return MST_OK;
}

/* Makes the update if it is due, in a job whose servers need no common order. */
static mst_status update_if_due(mst_server *s) {
    bool due;
    MST_TRY(mst_server_is_update_due(s, &due));
    return due ? mst_server_make_update(s) : MST_OK;
}

/* Answers gradients that come too late. Other workers have already made that step, so the gradients do not belong to
 * the newest values. */
static mst_status answer_late(mst_server *s, const mst_task_message *message) {
    MST_TRY(mst_server_drop_late(s, message));
    return mst_server_answer(s, message->from);
}

/* Drops gradients that come after the last step. */
static mst_status drop_after_end(mst_server *s, const mst_task_message *message) {
    MST_TRY(mst_server_log_gradients(s, message, MST_LOGGED_LATE));
    if (!s->job.in_turn) return mst_server_answer(s, message->from);
    s->worker[message->from].computes = false;
    MST_TRY(send_taken(s, message->from));
    return mst_server_answer_held(s);
}

/* Answers gradients that have been applied, and are sent again. */
static mst_status answer_again(mst_server *s, int32_t from) {
    if (s->job.in_turn) return send_taken(s, from);
    return s->worker[from].held ? MST_OK : mst_server_answer(s, from);
}

static mst_status take_to_replay(mst_server *s, mst_task_message **message) {
    const int32_t from = (*message)->from;
    MST_TRY(mst_server_replay_gradients(s, message));
    return send_taken(s, from);
}

mst_status mst_server_take_gradients(mst_server *s, mst_task_message **message) {
    const int32_t from = (*message)->from;
    mst_server_worker *w = &s->worker[from];
    if ((*message)->head.round != s->round) return mst_server_send_empty(s, from, w->request);
    w->has = (*message)->head.step;
    if ((*message)->head.number < s->position[from]) return answer_again(s, from);
    if (s->options.replay_updates) return take_to_replay(s, message);
    if (s->job.last_step > 0 && s->step >= s->job.last_step) return drop_after_end(s, *message);
    if (s->job.synchronous && w->has != s->step) return answer_late(s, *message);
    mst_server_drop_gradients(s, from);
    MST_TRY(mst_server_read_gradients(s, *message));
    if (!s->job.synchronous) return update_alone(s, message);
    w->gradients = *message;
    *message = NULL;
    if (!s->waiting.since) s->waiting.since = mst_clock_now();
    return s->order.num_ps ? MST_OK : update_if_due(s);
}
