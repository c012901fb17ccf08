/* Updates with the gradients of one worker, or with the sum of those of all workers. */
#include "parameter_server/server_state.h"

#include "base/clock.h"
#include "parameter_server/batch_position.h"

static mst_status run_update(mst_server *s) {
    MST_TRY(mst_session_run(s->program.session, s->gradients.feed, s->gradients.num_feeds, &s->program.train, 1, NULL));
    s->step++;
    return MST_OK;
}

/* Whether the worker may get values at any time: it has not come yet, or is lost and comes back. */
static bool is_away(const mst_server_worker *w) {
    return (!w->instance || w->lost) && !w->left && !w->finished;
}

/* Whether worker W may compute gradients now without making anybody's gradients too old: each of the other computing
 * workers may come before any other one. Absent workers are counted too, since they may come at any time. */
static bool may_compute(const mst_server *s, int32_t w) {
    int64_t others = 0, oldest = s->step;
    if (s->job.staleness < 0) return true;
    for (int32_t i = 0; i < s->num_workers; i++) {
        const bool computes = s->worker[i].computes;
        if (i == w || !(computes || is_away(&s->worker[i]))) continue;
        others++;
        if (computes && s->worker[i].read < oldest) oldest = s->worker[i].read;
    }
    return others == 0 || s->step - oldest + others <= s->job.staleness;
}

mst_status mst_server_answer_held(mst_server *s) {
    if (s->options.replay_updates) return mst_server_go_on_with_replay(s);
    for (int32_t w = 0; w < s->num_workers; w++)
        if (s->worker[w].held && may_compute(s, w)) MST_TRY(mst_server_answer(s, w));
    return MST_OK;
}

static void count_staleness(mst_server *s, int64_t staleness) {
    enum { LAST = MST_STALENESS_COUNTS - 1 };
    s->counts.applied++;
    s->counts.total_staleness += staleness;
    if (staleness > s->counts.most_staleness) s->counts.most_staleness = staleness;
    s->counts.staleness[staleness < LAST ? staleness : LAST]++;
}

mst_status mst_server_apply(mst_server *s, const mst_task_message *message) {
    mst_server_worker *w = &s->worker[message->from];
    const int64_t staleness = s->step - w->read;
    mst_status status = mst_server_take_alone(s, message->from);
    if (!status) status = run_update(s);
    mst_server_leave_alone(s);
    MST_TRY(status);
    count_staleness(s, staleness);
    s->position[message->from] = message->head.number + 1;
    w->computes = false;
    mst_server_hold(s, message->from);
    return mst_server_log_gradients(s, message, MST_LOGGED_UPDATE);
}

/* ---- values in turn ---- */

void mst_server_hold(mst_server *s, int32_t w) {
    s->worker[w].held = !s->job.in_turn || s->worker[w].wants;
}

/* Tells worker TO that its gradients have come. If values are not given in turn, the values tell it. */
static mst_status send_taken(mst_server *s, int32_t to) {
    const mst_task_message_head head = {.kind = MST_PS_TAKEN, .round = s->round, .request = s->worker[to].request};
    return s->job.in_turn ? mst_mail_send(s->mail, to, &head, NULL, 0, NULL) : MST_OK;
}

mst_status mst_server_want(mst_server *s, const mst_task_message *message) {
    mst_server_worker *w = &s->worker[message->from];
    if (message->head.round != s->round) return mst_server_send_empty(s, message->from, w->request);
    if (message->head.number == 0) return send_taken(s, message->from);
    w->wants = true;
    w->held |= !w->gradients; /* gradients of a replay wait for their turn */
    return mst_server_answer_held(s);
}

/* ---- gradients ---- */

/* Before the worker gets values, it is told that its gradients are no longer read: it may write the next ones there. */
static mst_status update_alone(mst_server *s, mst_task_message **message) {
    const int32_t from = (*message)->from;
    MST_TRY(mst_server_apply(s, *message));
    mst_task_message_free(*message);
    *message = NULL;
    MST_TRY(send_taken(s, from));
    return mst_server_answer_held(s);
}

static int32_t count_gradients(const mst_server *s) {
    int32_t count = 0;
    for (int32_t w = 0; w < s->num_workers; w++) count += s->worker[w].gradients != NULL;
    return count;
}

/* If the gradients are of the first batch of an epoch, sums that workers report begin anew. */
static mst_status begin_epoch(mst_server *s) {
    bool is_first = s->job.aggregate == s->num_workers;
    for (int32_t w = 0; w < s->num_workers && is_first; w++)
        is_first = !s->worker[w].gradients || mst_batch_of_position(s->worker[w].gradients->head.number) == 0;
    for (int32_t v = 0; v < s->variables.count && is_first; v++) {
        const mst_server_variable *at = &s->variables.at[v];
        mst_tensor *zeros;
        if (!at->is_reported) continue;
        MST_TRY(mst_tensor_create(at->spec.dtype, at->spec.shape, &zeros));
        const mst_status status =
            mst_store_set(mst_session_store(s->program.session), NULL, at->name, MST_STATE_METRIC, zeros);
        mst_tensor_release(zeros);
        MST_TRY(status);
    }
    return MST_OK;
}

mst_status mst_server_apply_together(mst_server *s) {
    MST_TRY(begin_epoch(s));
    MST_TRY(mst_server_add_up(s, count_gradients(s)));
    MST_TRY(run_update(s));
    for (int32_t w = 0; w < s->num_workers; w++) {
        if (!s->worker[w].gradients) continue;
        s->worker[w].previous = s->position[w];
        s->position[w] = s->worker[w].gradients->head.number + 1;
        s->worker[w].waits = true;
        MST_TRY(mst_server_log_gradients(s, s->worker[w].gradients, MST_LOGGED_UPDATE));
        mst_server_drop_gradients(s, w);
    }
    s->waiting.since = 0;
    return MST_OK;
}

mst_status mst_server_make_update(mst_server *s) {
    MST_TRY(mst_server_apply_together(s));
    return mst_server_answer_waiting(s);
}

/* If each step needs the gradients of all workers, all must make their last step together. It is an error if WORKER has
 * sent gradients for another step after another worker has ended the training. */
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

mst_status mst_server_update_together(mst_server *s) {
    const int32_t count = count_gradients(s);
    int32_t active = 0;
    for (int32_t w = 0; w < s->num_workers; w++) MST_TRY(check_together(s, w));
    for (int32_t w = 0; w < s->num_workers; w++) active += !s->worker[w].left && !s->worker[w].finished;
    if (s->end.is_closed || count == 0 || (count < s->job.aggregate && count < active)) return MST_OK;
    return s->order.num_ps ? mst_server_order_update(s) : mst_server_make_update(s);
}

mst_status mst_server_drop_late(mst_server *s, const mst_task_message *message) {
    s->counts.dropped++;
    s->position[message->from] = message->head.number + 1;
    return mst_server_log_gradients(s, message, MST_LOGGED_DROPPED);
}

/* Answers gradients of values that are no longer the newest: other workers have been faster. */
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
    return s->order.num_ps ? MST_OK : mst_server_update_together(s);
}
