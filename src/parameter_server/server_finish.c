/* What the workers do at the end: they finish a training (FINISHED), leave the job (LEAVE), and confirm that they know
 * its end (GONE). */
#include "base/clock.h"
#include "parameter_server/server_state.h"

static mst_status send_finished(mst_server *s, int32_t w) {
    return mst_server_send_values(s, MST_PS_FINISHED, w, w + 1, NULL);
}

static void say_staleness(mst_server *s) {
    if (s->job.synchronous && s->job.aggregate < s->num_workers)
        mst_server_say(s, "%lld updates; the gradients of %lld batches came too late and were dropped",
                       (long long)s->step, (long long)s->counts.dropped);
    else if (s->counts.applied > 0)
        mst_server_say(s, "%lld updates; gradients were %.2f steps old on average, and %lld at most",
                       (long long)s->step, (double)s->counts.total_staleness / (double)s->counts.applied,
                       (long long)s->counts.most_staleness);
}

static mst_status end_training_when_all_finished(mst_server *s) {
    for (int32_t w = 0; w < s->num_workers; w++)
        if (!s->worker[w].finished && !s->worker[w].left) return MST_OK;
    const mst_server_worker *chief = &s->worker[s->chief];
    if (chief->finished && !chief->has_state) return send_finished(s, s->chief);
    s->end.trainings++;
    s->end.stops = false;
    for (int32_t w = 0; w < s->num_workers; w++) {
        if (s->worker[w].finished) MST_TRY(send_finished(s, w));
        s->worker[w].finished = s->worker[w].has_state = false;
    }
    return MST_OK;
}

/* Sends DONE to all workers from a server that was started again and has no values. It needs none: all workers already
 * have the last values. */
static mst_status send_done_without_values(mst_server *s) {
    for (int32_t w = 0; w < s->num_workers; w++) {
        const mst_task_message_head head = {.kind = MST_PS_DONE, .request = s->worker[w].request};
        MST_TRY(mst_mail_send(s->mail, w, &head, NULL, 0, NULL));
    }
    return MST_OK;
}

mst_status mst_server_end_when_all_left(mst_server *s) {
    if (s->round) MST_TRY(end_training_when_all_finished(s));
    for (int32_t w = 0; w < s->num_workers; w++)
        if (!s->worker[w].left) return MST_OK;
    s->end.all_left = mst_clock_now();
    if (!s->round) return send_done_without_values(s);
    say_staleness(s);
    return mst_server_send_values(s, MST_PS_DONE, 0, s->num_workers, NULL);
}

/* After all have done their work, ends the server when each worker has confirmed that (GONE). The end of a connection
 * is no confirmation. DONE may have been sent on a connection that was already broken, for example while this server
 * was stopped. */
void mst_server_end_when_all_gone(mst_server *s) {
    static const double LEAST = 5; /* seconds; more is added for workers that are cut off for a while */
    const int64_t now = mst_clock_now(), most = (int64_t)((LEAST + 2 * s->options.timeout) * 1e9);
    bool all = true;
    if (!s->end.all_left) return;
    for (int32_t w = 0; w < s->num_workers; w++)
        all &= s->worker[w].gone || (s->worker[w].lost && now - s->worker[w].lost > most);
    s->ended = all || now - s->end.all_left > most;
}

/* Goes on without gradients of worker FROM, which sends no more: an update, or other workers' values, may have waited
 * for them. */
static mst_status go_on_without(mst_server *s, int32_t from) {
    s->worker[from].computes = false;
    return s->job.synchronous && !s->options.replay_updates ? mst_server_update_together(s) : mst_server_answer_held(s);
}

/* Notes it if MESSAGE says that the chief's callbacks have ended the training. Workers that are at another step
 * than the chief are told with their next values. */
static mst_status stop_all(mst_server *s, const mst_task_message *message) {
    const mst_server_options *o = &s->options;
    if (message->from != s->chief || !(message->head.step & MST_FINISHED_STOPS) || s->end.stops) return MST_OK;
    s->end.stops = true;
    if (!o->update_log && !o->replay_updates) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "a callback ends the training, which is not in the log of updates: leave %s out, or the callback "
                    "(--patience)",
                    o->update_log ? "--update-log" : "--replay-updates");
}

mst_status mst_server_finish(mst_server *s, const mst_task_message *message) {
    if (message->head.number <= s->end.trainings) return send_finished(s, message->from);
    mst_server_drop_gradients(s, message->from); /* gradients of an earlier process of this worker */
    s->worker[message->from].finished = true;
    s->worker[message->from].has_state = (message->head.step & MST_FINISHED_HAS_STATE) != 0;
    MST_TRY(stop_all(s, message));
    MST_TRY(go_on_without(s, message->from));
    return end_training_when_all_finished(s);
}

/* If the worker says that another server has sent DONE, notes that all workers have left, even workers that are lost
 * here or have come back. */
static void hear_all_left(mst_server *s, const mst_task_message *message) {
    for (int32_t w = 0; w < s->num_workers && message->head.step == 1; w++) s->worker[w].left = true;
}

mst_status mst_server_take_leave(mst_server *s, const mst_task_message *message) {
    /* nothing new: this server knows that all have left */
    if (s->end.all_left && message->head.step == 1) return MST_OK;
    MST_TRY(mst_server_check_leaving(s, message->from));
    s->worker[message->from].left = true;
    hear_all_left(s, message);
    MST_TRY(go_on_without(s, message->from));
    return mst_server_end_when_all_left(s);
}

mst_status mst_server_take_unknown_leave(mst_server *s, const mst_task_message *message) {
    mst_server_worker *w = &s->worker[message->from];
    w->instance = message->instance;
    w->request = message->head.request;
    w->left = true;
    w->lost = 0;
    if (message->head.number > s->end.trainings) s->end.trainings = message->head.number;
    hear_all_left(s, message);
    MST_TRY(mst_server_call_chief(s));
    return mst_server_end_when_all_left(s);
}
