/* A parameter server. One thread takes the messages of the workers one after another (messages/task_message.h):
 *
 *      HELLO        is answered with the values; if there are none yet, the chief is asked for them
 *      BEGIN        from the chief: the graph of the update, and the first values
 *      GRADIENTS    are applied at once, or kept until the gradients of enough workers are there
 *      WANT         asks for values, if servers give them in turn (max_staleness)
 *      RATE         asks for the learning rate, or sets it
 *      KEPT         asks for the state of the chief's callbacks, or brings it
 *      AGREE        asks which instructions all workers have
 *      FINISHED     is answered when all workers have sent it: until then each may have to repeat steps. The chief is
 *                   answered first. The others are answered when the chief has all state of the last step: from then on
 *                   no step is lost with a server, and each worker has the last values
 *      LEAVE        the last one ends the job, even if this server was started again after the last step and has no
 *                   values
 *      GONE         ends the server when each worker has sent it; a worker sends it when it knows that all have left
 *
 * The rules that workers and servers keep to are in parameter_server/ps_message.h. */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/no_memory.h"
#include "cluster/cluster_spec.h"
#include "parameter_server/server_state.h"
#include "transport/time_limits.h"

/* ---- the end of the job with an error ---- */

static mst_status send_text(mst_server *s, int32_t to, uint64_t request, const char *text) {
    return mst_server_send_line(s, MST_PS_FAILED, to, request, text);
}

/* Waits some seconds for workers that have not come yet, and tells them why the job has ended. */
static void tell_who_comes(mst_server *s, const char *text) {
    static const double SECONDS = 5;
    const int64_t until = mst_clock_after(SECONDS);
    int32_t missing = 0;
    for (int32_t w = 0; w < s->num_workers; w++) missing += !s->worker[w].instance && !s->worker[w].kept_out_since;
    for (mst_task_message *p; missing > 0 && (p = mst_mail_next(s->mail, until)); mst_task_message_free(p)) {
        if (p->head.kind != MST_PS_HELLO || p->from >= s->num_workers || s->worker[p->from].instance) continue;
        s->worker[p->from].instance = p->instance;
        missing = send_text(s, p->from, p->head.request, text) ? 0 : missing - 1;
    }
}

/* After the end of the job: answers the chief, which may ask for the state, for as long as it is there. TEXT is for
 * other workers that come. */
static mst_status serve_chief(mst_server *s, const char *text) {
    const mst_server_worker *chief = &s->worker[s->chief];
    const int64_t until = mst_clock_after(s->options.step_timeout);
    mst_status status = MST_OK;
    bool is_there = s->round && chief->instance && !chief->lost && !chief->left;
    for (mst_task_message *p; !status && is_there && (p = mst_mail_next(s->mail, until)); mst_task_message_free(p)) {
        const bool of_chief = p->from == s->chief && (!p->instance || p->instance == chief->instance);
        if (p->head.kind == MST_PS_HELLO && p->from < s->num_workers)
            status = send_text(s, p->from, p->head.request, text);
        else if (of_chief && p->head.kind == MST_TASK_MESSAGE_LOST)
            is_there = false;
        else if (of_chief && p->head.kind == MST_PS_COLLECT) {
            s->worker[s->chief].request = p->head.request;
            status = mst_server_send_state(s, s->chief);
        }
    }
    return status;
}

/* Ends the job with the calling thread's error, whose code is STATUS: all workers are told. */
static mst_status end_job(mst_server *s, mst_status status) {
    mst_failure failure;
    mst_failure_keep(&failure, status);
    for (int32_t w = 0; w < s->num_workers; w++)
        if (s->worker[w].instance && send_text(s, w, 0, failure.message)) break;
    if (status != MST_CANCELLED) tell_who_comes(s, failure.message);
    if (s->end.is_left && serve_chief(s, failure.message)) mst_server_say(s, "%s", mst_error()->message);
    s->ended = true;
    mst_mail_give_up(s->mail);
    return mst_failure_restore(&failure);
}

/* ---- requests of workers ---- */

/* Sends the state. If the chief asks with NUMBER 1, the state is the last one of this round: no update follows. If the
 * servers have one order, the first server alone decides about updates. (Without an order, `self` is 0 on all.) */
static mst_status send_state(mst_server *s, const mst_task_message *message) {
    s->end.is_closed |= message->from == s->chief && message->head.number == 1 && s->order.self == 0;
    return mst_server_send_state(s, message->from);
}

static mst_status take_request(mst_server *s, mst_task_message **message) {
    const mst_task_message *p = *message;
    mst_server_worker *w = &s->worker[p->from];
    const bool current = w->instance == p->instance;
    if (current) w->request = p->head.request;
    switch (p->head.kind) {
        case MST_PS_GRADIENTS: return mst_server_take_gradients(s, message);
        case MST_PS_WANT: return mst_server_want(s, p);
        case MST_PS_RATE: return mst_server_take_rate(s, p);
        case MST_PS_KEPT: return mst_server_take_kept(s, p);
        case MST_PS_AGREE: return mst_server_take_agree(s, p);
        case MST_PS_STALENESS: return mst_server_send_staleness(s, p->from);
        case MST_PS_COLLECT: return current ? send_state(s, p) : MST_OK;
        case MST_PS_FINISHED: return current ? mst_server_finish(s, p) : MST_OK;
        case MST_PS_LEAVE: return mst_server_take_leave(s, p);
        default: return MST_OK;
    }
}

static mst_status fail_no_memory(mst_server *s, const mst_task_message *p) {
    char own[300];
    return MST_FAIL(
        MST_OUT_OF_MEMORY, "%s has no memory for %s, sent by %s: take more parameter servers, or a smaller model",
        mst_mail_name(s->mail, s->self, own, sizeof own), (const char *)p->body, mst_server_name(s, p->from));
}

static mst_status take(mst_server *s, mst_task_message **message) {
    const mst_task_message *p = *message;
    if (p->from >= s->num_workers) return mst_server_hear_server(s, p);
    mst_server_worker *w = &s->worker[p->from];
    const bool current = w->instance == p->instance;
    switch (p->head.kind) {
        case MST_PS_HELLO: return mst_server_greet(s, p);
        case MST_PS_FAILED:
            s->end.is_left = p->head.step == 1;
            if (p->head.number == 1) return MST_FAIL(MST_UNAVAILABLE, "%s", (const char *)p->body);
            return MST_FAIL(MST_UNAVAILABLE, "%s: %s", mst_server_name(s, p->from), (const char *)p->body);
        case MST_TASK_MESSAGE_CANNOT_JOIN: mst_server_hear_cannot_join(s, p); return MST_OK;
        case MST_TASK_MESSAGE_CONNECTED: w->lost = 0; return MST_OK;
        case MST_PS_GONE: w->gone |= current; return MST_OK;
        case MST_TASK_MESSAGE_LOST: mst_server_lose_worker(s, p); return s->round ? mst_server_answer_held(s) : MST_OK;
        case MST_PS_LEAVING: s->leaving.may_end |= current; return MST_OK;
        case MST_TASK_MESSAGE_NO_MEMORY: return fail_no_memory(s, p);
        default: break;
    }
    if (p->head.kind == MST_PS_LEAVE && p->head.number > 0 && (!w->instance || (current && !s->round)))
        return mst_server_take_unknown_leave(s, p);
    if (!current) return mst_server_send_empty(s, p->from, p->head.request);
    if (p->head.request < w->request) return MST_OK; /* a later request has come before this one */
    if (p->head.kind == MST_PS_BEGIN) {
        w->request = p->head.request;
        return mst_server_begin(s, p);
    }
    if (!s->round || (s->end.is_closed && p->head.kind != MST_PS_COLLECT))
        return mst_server_send_empty(s, p->from, p->head.request);
    return (mst_server_is_ordered(s, p) ? mst_server_list_request : take_request)(s, message);
}

/* ---- running ---- */

static mst_status serve(mst_server *s) {
    static const double TICK = 0.05; /* seconds */
    mst_status status = MST_OK;
    while (!status && !s->ended) {
        mst_stopwatch_start(&s->status.wait);
        mst_task_message *message = mst_mail_next(s->mail, mst_clock_after(TICK));
        mst_stopwatch_stop(&s->status.wait);
        if (message) status = take(s, &message);
        mst_server_end_message(s, message, status);
        const int64_t now = mst_clock_now();
        if (!status) status = mst_server_check_lost(s, now);
        if (!status) status = mst_server_check_step(s, now);
        if (!status) status = mst_server_check_kept_out(s, now);
        if (!status) status = mst_server_remind_first(s, now);
        if (!status && s->round) status = mst_server_say_who_is_missing(s, now);
        mst_server_end_when_all_gone(s);
        mst_server_note_waiting(s, now);
        if (!status) status = mst_server_check_stop(s, now);
    }
    return status && !s->ended ? end_job(s, status) : status;
}

/* ---- opening and closing ---- */

static mst_status open_server(mst_server *s) {
    const mst_server_options *o = &s->options;
    s->self = mst_cluster_self(o->cluster);
    s->num_workers = mst_cluster_num_workers(o->cluster);
    const mst_task_info self = mst_cluster_task(o->cluster, s->self);
    if (!self.job || strcmp(self.job, "ps") != 0)
        return MST_FAIL(MST_INVALID, "server: this task is %s:%d, not a parameter server: give it the job 'ps'",
                        self.job ? self.job : "none", (int)self.index);
    if (mst_cluster_is_sparse(o->cluster)) return MST_FAIL(MST_INVALID, "server: " MST_SPARSE_CLUSTER);
    if (s->num_workers == 0)
        return MST_FAIL(MST_INVALID, "server: the cluster has no workers: add them to its description");
    s->worker = calloc((size_t)s->num_workers, sizeof *s->worker);
    s->position = calloc((size_t)s->num_workers, sizeof *s->position);
    if (!s->worker || !s->position) return MST_NO_MEMORY("for %d workers", (int)s->num_workers);
    MST_TRY(mst_task_status_init(&s->status, o->cluster));
    mst_mail_options mail = MST_MAIL_OPTIONS(o);
    mail.protocol = &mst_ps_protocol;
    mail.status = &s->status;
    mail.borrows = true;
    return mst_mail_open(&mail, &s->mail);
}

static void close_server(mst_server *s) {
    if (s->worker) mst_server_clear(s); /* before the mail is closed: frees the server's messages */
    mst_mail_close(s->mail);
    mst_update_writer_close(&s->update_log);
    mst_server_close_replay(s);
    mst_snapshot_release(s->kept);
    free(s->position);
    free(s->worker);
    mst_task_status_free(&s->status);
}

mst_status mst_server_run_with(const mst_server_options *options) {
    if (MST_IS_NULL(options) || MST_IS_NULL(options->cluster)) return MST_INVALID;
    if (options->timeout < 0 || options->recovery_timeout < 0 || options->step_timeout < 0)
        return MST_FAIL(MST_INVALID, "server: a timeout must not be negative");
    if (options->update_log && options->replay_updates && strcmp(options->update_log, options->replay_updates) == 0)
        return MST_FAIL(MST_INVALID,
                        "server: the log '%s' cannot be both replayed and written: write the new one to another folder",
                        options->update_log);
    mst_server s = {.options = *options, .take_request = take_request};
    if (s.options.timeout == 0) s.options.timeout = MST_TASK_TIMEOUT;
    if (s.options.recovery_timeout == 0) s.options.recovery_timeout = MST_TASK_RECOVERY_TIMEOUT;
    if (s.options.step_timeout == 0) s.options.step_timeout = MST_TASK_STEP_TIMEOUT;
    mst_status status = open_server(&s);
    if (!status) status = serve(&s);
    close_server(&s);
    return status;
}
