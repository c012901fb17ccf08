/* Replay of an asynchronous job, or of one with backup workers. Gradients are applied in the order of its log. Each
 * worker computes them from the values that the log names. The variables therefore get the same bits. Values and
 * gradients are held back:
 *
 *      values      a worker gets those of the step that the log says it has read, before the next update is made
 *      gradients   are kept until it is their turn
 *
 * Nothing is sent before all workers have said HELLO. Then the tasks cannot deadlock, for any number of servers. Proof:
 * the logs of all servers are of one job. List the actions of that job (sending values, sending gradients, updates) in
 * the order in which they happened, and take the first one that the replay has not done. All actions for which it
 * waits, on any server or worker, came before it in that job. They have therefore been done in the replay, and the
 * action can be done now:
 *
 *      values of step S to worker W    wait for update S, and for the earlier gradients of W
 *      gradients of W                  wait for their values from all servers
 *      update S + 1                    waits for its gradients, and for all workers to which values of step S are due
 *
 * Gradients that were dropped because others had made their step are dropped at the same place in the order.
 *
 * If a job has a last step, gradients that come after it are dropped. The log has these gradients too, since another
 * server may have applied them. A worker may also compute gradients in the replay that it did not compute in the logged
 * job; they are dropped too. */
#include "parameter_server/server_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "parameter_server/batch_position.h"

#define REPLAY_AGAIN "start all tasks again"

static bool have_all_come(const mst_server *s) {
    for (int32_t w = 0; w < s->num_workers; w++)
        if (!s->worker[w].instance) return false;
    return true;
}

static mst_status open_replay(mst_server *s) {
    s->replay = calloc(1, sizeof *s->replay);
    if (!s->replay) return MST_NO_MEMORY("for a log of updates");
    MST_TRY(mst_server_read_log(s, s->replay));
    mst_server_say(s, "replays %lld updates of '%s'", (long long)s->replay->num_updates, s->replay->path);
    return MST_OK;
}

void mst_server_close_replay(mst_server *s) {
    if (s->replay) mst_update_log_free(s->replay);
    free(s->replay);
    s->replay = NULL;
}

/* The next gradients of worker W in the log; NULL: there are none. */
static const mst_logged_gradients *next_of(const mst_server *s, int32_t w) {
    const int64_t next = s->replay->first[w];
    return next < s->replay->num_entries ? &s->replay->entry[next] : NULL;
}

/* Goes on to the next gradients of W in the log: the present ones have come, or are not waited for any more. */
static void pass(mst_server *s, int32_t w) {
    s->replay->first[w] = next_of(s, w)->later;
}

/* Whether the job has made its last step, after which gradients are dropped. */
static bool is_at_end(const mst_server *s) {
    return s->job.last_step > 0 && s->step >= s->job.last_step;
}

/* ---- values ---- */

static mst_status send_due_values(mst_server *s) {
    for (int32_t w = 0; w < s->num_workers; w++) {
        if (!s->worker[w].held) continue;
        const mst_logged_gradients *next = next_of(s, w);
        /* these gradients will be dropped, so it does not matter from which values they are computed */
        const bool is_of_any = next && next->read < 0;
        if (next && next->read < s->step && !is_of_any)
            return MST_FAIL(
                MST_UNAVAILABLE,
                "%s asks for the values of step %lld again, but the replay is already at step %lld: " REPLAY_AGAIN,
                mst_server_name(s, w), (long long)next->read, (long long)s->step);
        if (!next || next->read == s->step || is_of_any)
            MST_TRY(mst_server_send_values(s, MST_PS_VALUES, w, w + 1, NULL));
    }
    return MST_OK;
}

/* ---- gradients ---- */

static mst_status are_not_logged(mst_server *s, const mst_task_message *message, const char *instead) {
    const int64_t position = message->head.number;
    return MST_FAIL(MST_INVALID,
                    "%s has sent the gradients of epoch %lld, batch %lld, computed with the values of step %lld, but "
                    "'%s' has %s: replay it with the same data and the same program",
                    mst_server_name(s, message->from), (long long)mst_epoch_of_position(position),
                    (long long)mst_batch_of_position(position), (long long)message->head.step, s->replay->path,
                    instead);
}

static mst_status check_with_log(mst_server *s, const mst_task_message *message) {
    const mst_logged_gradients *next = next_of(s, message->from);
    char text[120];
    const bool reads_alike = next && (next->read == message->head.step || next->read < 0);
    if (reads_alike && next->position == message->head.number) return MST_OK;
    if (!next && s->job.last_step > 0) return MST_OK;
    if (!next)
        snprintf(text, sizeof text, "no more gradients of this worker in its %lld updates",
                 (long long)s->replay->num_updates);
    else
        snprintf(text, sizeof text, "those of epoch %lld, batch %lld, with the values of step %lld",
                 (long long)mst_epoch_of_position(next->position), (long long)mst_batch_of_position(next->position),
                 (long long)next->read);
    return are_not_logged(s, message, text);
}

/* After the last update: drops the gradients that came late according to the log. It is an error if others are left. */
static mst_status end_replay(mst_server *s) {
    for (int32_t w = 0; w < s->num_workers; w++) {
        mst_server_worker *worker = &s->worker[w];
        if (!worker->gradients) continue;
        if (!is_at_end(s))
            return MST_FAIL(MST_INVALID,
                            "'%s' ends at step %lld, before the training does: the job that wrote it did not end, and "
                            "cannot be replayed",
                            s->replay->path, (long long)s->step);
        MST_TRY(mst_server_log_gradients(s, worker->gradients, MST_LOGGED_LATE));
        if (next_of(s, w)) pass(s, w);
        mst_server_drop_gradients(s, w);
        mst_server_hold(s, w);
    }
    s->waiting.since = 0;
    return send_due_values(s);
}

/* Whether a worker will still ask for the values of this step. That is possible if values are given in turn. */
static bool will_be_asked(const mst_server *s) {
    bool due = false;
    for (int32_t w = 0; w < s->num_workers && s->job.in_turn; w++) {
        const mst_server_worker *worker = &s->worker[w];
        const mst_logged_gradients *next = next_of(s, w);
        due |= next && next->read == s->step && !worker->computes && !worker->finished && !worker->left;
    }
    return due;
}

/* The number of log entries from NEXT on that are done together: the gradients of an update, or some that were
 * dropped. */
static int32_t count_together(const mst_update_log *log, const mst_logged_gradients *next) {
    const mst_logged_gradients *end = log->entry + log->num_in_order;
    int32_t count = 1;
    while (next->event == MST_LOGGED_UPDATE && next + count < end && next[count].event == MST_LOGGED_UPDATE &&
           next[count].step == next->step)
        count++;
    return count;
}

static bool have_come(const mst_server *s, const mst_logged_gradients *next, int32_t count) {
    bool all = true;
    for (int32_t i = 0; i < count; i++) all &= s->worker[next[i].worker].gradients != NULL;
    return all;
}

/* Replays an update with the gradients of one worker, or drops them. */
static mst_status replay_alone(mst_server *s, const mst_logged_gradients *next) {
    const int32_t w = next->worker;
    mst_task_message *message = s->worker[w].gradients;
    s->worker[w].gradients = NULL;
    message->head.step = next->read; /* for dropped gradients the log may have -1 here */
    const mst_status status =
        next->event == MST_LOGGED_UPDATE ? mst_server_apply(s, message) : mst_server_drop_late(s, message);
    mst_server_end_message(s, message, status);
    if (!status) mst_server_hold(s, w);
    return status;
}

/* Replays an update with the gradients of COUNT workers. Gradients of other workers that have come are put aside. */
static mst_status replay_together(mst_server *s, const mst_logged_gradients *next, int32_t count) {
    for (int32_t w = 0, i = 0; w < s->num_workers; w++) {
        mst_server_worker *worker = &s->worker[w];
        if (i < count && next[i].worker == w) {
            i++;
            continue;
        }
        worker->listed = worker->gradients;
        worker->gradients = NULL;
    }
    const mst_status status = mst_server_apply_together(s);
    for (int32_t w = 0; w < s->num_workers; w++) {
        mst_server_worker *worker = &s->worker[w];
        if (worker->listed) worker->gradients = worker->listed;
        worker->listed = NULL;
        worker->held |= worker->waits;
        worker->waits = false;
    }
    return status;
}

static mst_status make_logged_updates(mst_server *s) {
    mst_update_log *log = s->replay;
    for (;;) {
        MST_TRY(send_due_values(s));
        if (log->next == log->num_in_order) return end_replay(s);
        const mst_logged_gradients *next = &log->entry[log->next];
        const int32_t count = count_together(log, next);
        if (!have_come(s, next, count) || will_be_asked(s)) return MST_OK;
        for (int32_t i = 0; i < count; i++) pass(s, next[i].worker);
        const bool together = s->job.synchronous && next->event == MST_LOGGED_UPDATE;
        MST_TRY(together ? replay_together(s, next, count) : replay_alone(s, next));
        log->next += count;
        s->waiting.since = mst_clock_now(); /* a wait for workers begins, to which step_timeout applies */
    }
}

mst_status mst_server_go_on_with_replay(mst_server *s) {
    if (!s->round || !have_all_come(s)) return MST_OK;
    if (!s->replay) MST_TRY(open_replay(s));
    return make_logged_updates(s);
}

mst_status mst_server_replay_gradients(mst_server *s, mst_task_message **message) {
    mst_server_worker *w = &s->worker[(*message)->from];
    if (!s->replay) return MST_OK; /* the log is not read yet, so no values were sent: these gradients are of no use */
    MST_TRY(check_with_log(s, *message));
    mst_server_drop_gradients(s, (*message)->from);
    MST_TRY(mst_server_read_gradients(s, *message));
    w->gradients = *message;
    *message = NULL;
    if (!s->waiting.since) s->waiting.since = mst_clock_now();
    return mst_server_go_on_with_replay(s);
}

mst_status mst_server_check_leaving(mst_server *s, int32_t w) {
    const mst_logged_gradients *next = s->replay ? next_of(s, w) : NULL;
    if (!next || next->event == MST_LOGGED_LATE) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "%s has ended without sending the gradients of epoch %lld, batch %lld, which '%s' has: "
                    "replay it with the same data and the same program",
                    mst_server_name(s, w), (long long)mst_epoch_of_position(next->position),
                    (long long)mst_batch_of_position(next->position), s->replay->path);
}

mst_status mst_server_check_instance(mst_server *s, const mst_task_message *hello) {
    const mst_server_worker *w = &s->worker[hello->from];
    if (!s->replay || !w->instance || w->instance == hello->instance) return MST_OK;
    return MST_FAIL(MST_UNAVAILABLE, "%s was started again, after which a replay cannot go on: " REPLAY_AGAIN,
                    mst_server_name(s, hello->from));
}
