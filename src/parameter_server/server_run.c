/* A parameter server. One thread takes the messages of the workers one after another (messages/task_message.h):
 *
 *      HELLO        is answered with the values; if there are none yet, the chief is asked for them
 *      BEGIN        from the chief: the graph of the update, and the first values
 *      GRADIENTS    are applied at once, or kept until those of all workers are there
 *      WANT         asks for values, if servers give them in turn (max_staleness)
 *      RATE         asks for the learning rate, or sets it
 *      KEPT         asks for what the chief's callbacks keep, or brings it
 *      AGREE        asks which instructions all workers have
 *      FINISHED     is answered when all workers have sent it: until then each may have to repeat steps. The chief is
 *                   answered first. The others are answered when it has all state of the last step: from then on no
 *  step
 *                   is lost with a server, and each worker has the last values
 *      LEAVE        the last one ends the job; it counts even if there are no values, because the server was lost after
 *                   the last step
 *      GONE         ends the server when each worker has sent it; a worker sends it when it knows that all have left
 *
 * Gradients are identified by worker and position. If the position has already been applied, they are answered and
 * dropped. A worker that does not know whether its message has arrived may therefore send it again.
 *
 * A server that is told to leave says so (LEAVING). The chief takes the state of all servers, which then make no more
 * updates, and lets the server go: no step has to be repeated when it comes back.
 *
 * A server that was started again is empty, and says so. The chief then begins a new round: all servers get the state
 * that the chief has kept, and all workers go on from the positions in it. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "cluster/cluster_spec.h"
#include "cluster/task_log.h"
#include "parameter_server/server_state.h"

/* ---- the log ---- */

void mst_server_say(mst_server *s, const char *format, ...) {
    va_list list;
    va_start(list, format);
    mst_task_log(s->options.log, s->options.cluster, format, list);
    va_end(list);
}

const char *mst_server_name(mst_server *s, int32_t task) {
    return mst_mail_name(s->mail, task, s->text, sizeof s->text);
}

/* The workers that IS_MISSING selects, as a list in words. */
static const char *list_workers(mst_server *s, bool (*is_missing)(const mst_server_worker *), char *text, size_t size) {
    size_t used = 0;
    int32_t more = 0;
    *text = '\0';
    for (int32_t w = 0; w < s->num_workers; w++) {
        if (!is_missing(&s->worker[w])) continue;
        if (used + sizeof s->text + 20 < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", mst_server_name(s, w));
        else
            more++;
    }
    if (more) snprintf(text + used, size - used, " and %d more", (int)more);
    return text;
}

static bool has_not_come(const mst_server_worker *w) {
    return !w->instance;
}

static bool sends_nothing(const mst_server_worker *w) {
    return !w->gradients;
}

/* ---- the state ---- */

/* REQUEST 0: the line answers no request. */
static mst_status send_line(mst_server *s, int32_t kind, int32_t to, uint64_t request, const char *text) {
    const bool is_left = kind == MST_PS_FAILED && s->is_left;
    const mst_task_message_head head = {.kind = kind, .step = is_left, .request = request};
    return mst_mail_send(s->mail, to, &head, &(mst_iov){text, strlen(text)}, 1, NULL);
}

static mst_status send_text(mst_server *s, int32_t to, uint64_t request, const char *text) {
    return send_line(s, MST_PS_FAILED, to, request, text);
}

/* Workers that have not come yet, and come within some seconds, are told why the job has ended. */
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

/* The job has ended. As long as the chief is there, it may ask for the state. TEXT is for other workers that come. */
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
    if (s->is_left && serve_chief(s, failure.message)) mst_server_say(s, "%s", mst_error()->message);
    s->ended = true;
    mst_mail_give_up(s->mail);
    return mst_failure_restore(&failure);
}

/* ---- who is there ---- */

/* The machine of the worker that has sent MESSAGE differs from that of the first worker, as TEXT says. Only one server
 * tells them, once per process. */
static mst_status warn_of_machine(mst_server *s, const mst_task_message *message, const char *text) {
    if (s->worker[message->from].instance == message->instance ||
        mst_cluster_task(s->options.cluster, s->self).index > 0)
        return MST_OK;
    mst_server_say(s, "%s", text);
    MST_TRY(send_line(s, MST_PS_NOTICE, s->first, 0, text));
    return send_line(s, MST_PS_NOTICE, message->from, 0, text);
}

/* Fingerprints must be those of the first worker that came. */
static mst_status check_fingerprints(mst_server *s, const mst_task_message *message) {
    mst_fingerprint theirs[MST_FINGERPRINTS_MOST];
    const int32_t count = mst_fingerprints_take(message->body, message->bytes, theirs);
    char first[sizeof s->text], text[1024];
    if (count < 0)
        return MST_FAIL(MST_INVALID, "%s runs another version of Muster: run the same on all tasks",
                        mst_server_name(s, message->from));
    if (!s->num_fingerprints || (!s->round && s->first == message->from)) { /* a new process may be corrected */
        s->first = message->from;
        s->num_fingerprints = count;
        memcpy(s->fingerprint, theirs, (size_t)count * sizeof *theirs);
    }
    mst_mail_name(s->mail, s->first, first, sizeof first);
    const bool differs = mst_fingerprints_differ(s->fingerprint, s->num_fingerprints, first, theirs, count,
                                                 mst_server_name(s, message->from), text, sizeof text);
    if (differs) return MST_FAIL(MST_INVALID, "%s", text);
    const uint64_t instructions = mst_fingerprints_instructions(theirs, count);
    const bool has_less = mst_server_lacks_instructions(s, instructions);
    const bool is_other_machine =
        mst_fingerprints_warn(s->fingerprint, s->num_fingerprints, first, theirs, count,
                              mst_server_name(s, message->from), !has_less, text, sizeof text);
    if (has_less) return MST_FAIL(MST_INVALID, "%s", text);
    s->worker[message->from].instructions = instructions;
    return is_other_machine ? warn_of_machine(s, message, text) : MST_OK;
}

/* There are no values. If a worker waits for the last values, the chief, which has done its work, is asked for them. */
static mst_status call_chief(mst_server *s) {
    mst_server_worker *chief = &s->worker[s->chief];
    for (int32_t w = 0; w < s->num_workers && chief->left; w++) {
        if (!s->worker[w].waits) continue;
        chief->left = false;
        return mst_server_send_empty(s, s->chief, chief->request);
    }
    return MST_OK;
}

static mst_status greet(mst_server *s, const mst_task_message *message) {
    mst_server_worker *w = &s->worker[message->from];
    const mst_status status = check_fingerprints(s, message);
    if (status && s->round && w->instance) { /* it replaces a process that did fit: the job goes on */
        mst_server_say(s, "refuses %s: %s", mst_server_name(s, message->from), mst_error()->message);
        return send_text(s, message->from, message->head.request, mst_error()->message);
    }
    MST_TRY(mst_server_check_instance(s, message));
    if (w->instance && w->instance != message->instance) {
        mst_server_say(s, "%s was started again", mst_server_name(s, message->from));
        MST_TRY(mst_update_writer_add_again(&s->update_log, s->step, message->from));
    }
    mst_server_forget_listed(s, message->from);
    if (!s->order.num_ps) mst_server_drop_gradients(s, message->from); /* else all servers have them */
    if (message->from == s->chief && w->instance != message->instance) s->is_closed = false; /* its state is lost */
    w->instance = message->instance;
    w->request = message->head.request;
    w->lost = s->parts = 0;
    w->has = -1;
    w->kept_out_since = 0;
    w->left = w->gone = w->finished = w->has_state = w->agrees = false;
    if (status) return status;
    MST_TRY(mst_server_agree(s));
    if (message->head.step > s->finished) s->finished = message->head.step; /* an earlier server knew it */
    if (mst_server_wants_previous(s, message->from, message->head.number))
        return mst_server_send_previous(s, message->from);
    if (s->round) return mst_server_answer(s, message->from);
    w->waits = message->from != s->chief;
    return w->waits ? call_chief(s) : mst_server_send_empty(s, message->from, w->request);
}

static mst_status send_finished(mst_server *s, int32_t w) {
    return mst_server_send_values(s, MST_PS_FINISHED, w, w + 1, NULL);
}

static void say_staleness(mst_server *s) {
    if (s->job.synchronous && s->job.aggregate < s->num_workers)
        mst_server_say(s, "%lld updates; the gradients of %lld batches came too late and were dropped",
                       (long long)s->step, (long long)s->num_dropped);
    else if (s->num_applied > 0)
        mst_server_say(s, "%lld updates; gradients were %.2f steps old on average, and %lld at most",
                       (long long)s->step, (double)s->total_staleness / (double)s->num_applied,
                       (long long)s->most_staleness);
}

static mst_status end_training_when_all_finished(mst_server *s) {
    for (int32_t w = 0; w < s->num_workers; w++)
        if (!s->worker[w].finished && !s->worker[w].left) return MST_OK;
    const mst_server_worker *chief = &s->worker[s->chief];
    if (chief->finished && !chief->has_state) return send_finished(s, s->chief);
    s->finished++;
    s->stops = false;
    for (int32_t w = 0; w < s->num_workers; w++) {
        if (s->worker[w].finished) MST_TRY(send_finished(s, w));
        s->worker[w].finished = s->worker[w].has_state = false;
    }
    return MST_OK;
}

/* This server was started again and has got no values: all workers already have the last ones. */
static mst_status send_done_without_values(mst_server *s) {
    for (int32_t w = 0; w < s->num_workers; w++) {
        const mst_task_message_head head = {.kind = MST_PS_DONE, .request = s->worker[w].request};
        MST_TRY(mst_mail_send(s->mail, w, &head, NULL, 0, NULL));
    }
    return MST_OK;
}

static mst_status end_when_all_left(mst_server *s) {
    if (s->round) MST_TRY(end_training_when_all_finished(s));
    for (int32_t w = 0; w < s->num_workers; w++)
        if (!s->worker[w].left) return MST_OK;
    s->parts = mst_clock_now();
    if (!s->round) return send_done_without_values(s);
    say_staleness(s);
    return mst_server_send_values(s, MST_PS_DONE, 0, s->num_workers, NULL);
}

/* All have done their work. The server ends when each worker has confirmed it (GONE). The end of a connection is no
 * confirmation: DONE may have been sent on a connection that was already broken, for example because this server was
 * stopped for a while. */
static void part(mst_server *s) {
    static const double LEAST = 5; /* seconds; more is added for workers that are cut off for a while */
    const int64_t now = mst_clock_now(), most = (int64_t)((LEAST + 2 * s->options.timeout) * 1e9);
    bool all = true;
    if (!s->parts) return;
    for (int32_t w = 0; w < s->num_workers; w++)
        all &= s->worker[w].gone || (s->worker[w].lost && now - s->worker[w].lost > most);
    s->ended = all || now - s->parts > most;
}

static void lose(mst_server *s, const mst_task_message *message) {
    mst_server_worker *w = &s->worker[message->from];
    if (!w->instance || w->left || w->lost || (message->instance && message->instance != w->instance)) return;
    w->lost = mst_clock_now();
    w->computes = false; /* nobody waits for gradients of the values that it has read */
    snprintf(w->why, sizeof w->why, "%s", (const char *)message->body);
    mst_server_say(s, "%s is lost: %s", mst_server_name(s, message->from), w->why);
}

/* Requests that wait for gradients of worker FROM wait no longer. */
static mst_status go_on_without(mst_server *s, int32_t from) {
    s->worker[from].computes = false;
    return s->job.synchronous && !s->options.replay_updates ? mst_server_update_together(s) : mst_server_answer_held(s);
}

/* If workers are not in step, they hear with their next values that the training ends. */
static mst_status stop_all(mst_server *s, const mst_task_message *message) {
    const mst_server_options *o = &s->options;
    if (message->from != s->chief || !(message->head.step & MST_FINISHED_STOPS) || s->stops) return MST_OK;
    s->stops = true;
    if (!o->update_log && !o->replay_updates) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "a callback ends the training, which is not in the log of updates: leave %s out, or the callback "
                    "(--patience)",
                    o->update_log ? "--update-log" : "--replay-updates");
}

static mst_status finish(mst_server *s, const mst_task_message *message) {
    if (message->head.number <= s->finished) return send_finished(s, message->from);
    mst_server_drop_gradients(s, message->from); /* of an earlier process */
    s->worker[message->from].finished = true;
    s->worker[message->from].has_state = (message->head.step & MST_FINISHED_HAS_STATE) != 0;
    MST_TRY(stop_all(s, message));
    MST_TRY(go_on_without(s, message->from));
    return end_training_when_all_finished(s);
}

/* If the worker says that another server has ended the job, all have left, even workers that are lost here or have come
 * back. */
static void hear_all_left(mst_server *s, const mst_task_message *message) {
    for (int32_t w = 0; w < s->num_workers && message->head.step == 1; w++) s->worker[w].left = true;
}

static mst_status leave(mst_server *s, const mst_task_message *message) {
    if (s->parts && message->head.step == 1) return MST_OK; /* this server knows it */
    MST_TRY(mst_server_check_leaving(s, message->from));
    s->worker[message->from].left = true;
    hear_all_left(s, message);
    MST_TRY(go_on_without(s, message->from));
    return end_when_all_left(s);
}

/* A worker that has the last values leaves this server, which does not know the worker: it was started again since. */
static mst_status leave_unknown(mst_server *s, const mst_task_message *message) {
    mst_server_worker *w = &s->worker[message->from];
    w->instance = message->instance;
    w->request = message->head.request;
    w->left = true;
    w->lost = 0;
    if (message->head.number > s->finished) s->finished = message->head.number;
    hear_all_left(s, message);
    MST_TRY(call_chief(s));
    return end_when_all_left(s);
}

/* A process of the worker cannot join; or the worker has heard that from another server, or about another worker. A
 * message without an instance is about a process that has another list of tasks. */
static void hear_cannot_join(mst_server *s, const mst_task_message *p) {
    const bool is_another = p->instance && p->head.number > 1 && p->head.number < s->num_workers + 2;
    mst_server_worker *w = &s->worker[is_another ? p->head.number - 2 : p->from];
    w->kept_out_since = mst_clock_now();
    snprintf(w->kept_out, sizeof w->kept_out, "%s", (const char *)p->body);
    /* the connected process was this one, so the worker is not connected */
    if (!is_another && p->instance && w->instance && w->instance != p->instance && !w->left)
        w->lost = w->kept_out_since;
}

/* If the worker has come before, the process that cannot join may be one too many; or the worker was lost, and is
 * waited for until it can join. This server may itself have been started again: the chief has some time to say so. */
static mst_status check_kept_out(mst_server *s, int64_t now) {
    static const int64_t CHIEF_MAY_BE_LATE = INT64_C(2000000000); /* nanoseconds */
    for (int32_t i = 0; i < s->num_workers; i++) {
        mst_server_worker *w = &s->worker[i];
        if (!w->kept_out_since || (!s->round && now - w->kept_out_since <= CHIEF_MAY_BE_LATE)) continue;
        if (!s->round || (!w->instance && !s->job.is_again))
            return MST_FAIL(MST_UNAVAILABLE, "%s: %s", mst_server_name(s, i), w->kept_out);
        w->kept_out_since = 0;
        mst_server_say(s, "%s cannot join, and the job goes on: %s", mst_server_name(s, i), w->kept_out);
    }
    return MST_OK;
}

/* Sends the state. If the chief asks with NUMBER 1, it is the last state of this round. Servers with one order make
 * updates when the first server does. */
static mst_status send_state(mst_server *s, const mst_task_message *message) {
    s->is_closed |= message->from == s->chief && message->head.number == 1 && s->order.self == 0;
    return mst_server_send_state(s, message->from);
}

mst_status mst_server_take_request(mst_server *s, mst_task_message **message) {
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
        case MST_PS_FINISHED: return current ? finish(s, p) : MST_OK;
        case MST_PS_LEAVE: return leave(s, p);
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
        case MST_PS_HELLO: return greet(s, p);
        case MST_PS_FAILED:
            s->is_left = p->head.step == 1;
            if (p->head.number == 1) return MST_FAIL(MST_UNAVAILABLE, "%s", (const char *)p->body);
            return MST_FAIL(MST_UNAVAILABLE, "%s: %s", mst_server_name(s, p->from), (const char *)p->body);
        case MST_TASK_MESSAGE_CANNOT_JOIN: hear_cannot_join(s, p); return MST_OK;
        case MST_TASK_MESSAGE_CONNECTED: w->lost = 0; return MST_OK;
        case MST_PS_GONE: w->gone |= current; return MST_OK;
        case MST_TASK_MESSAGE_LOST: lose(s, p); return s->round ? mst_server_answer_held(s) : MST_OK;
        case MST_PS_LEAVING: s->may_leave |= current; return MST_OK;
        case MST_TASK_MESSAGE_NO_MEMORY: return fail_no_memory(s, p);
        default: break;
    }
    if (p->head.kind == MST_PS_LEAVE && p->head.number > 0 && (!w->instance || (current && !s->round)))
        return leave_unknown(s, p);
    if (!current) return mst_server_send_empty(s, p->from, p->head.request);
    if (p->head.request < w->request) return MST_OK; /* a later one has overtaken it */
    if (p->head.kind == MST_PS_BEGIN) {
        w->request = p->head.request;
        return mst_server_begin(s, p);
    }
    if (!s->round || (s->is_closed && p->head.kind != MST_PS_COLLECT))
        return mst_server_send_empty(s, p->from, p->head.request);
    return (mst_server_is_ordered(s, p) ? mst_server_list_request : mst_server_take_request)(s, message);
}

/* ---- waiting ---- */

/* Before the workers have begun: says for whom the server waits. */
static void say_whom(mst_server *s) {
    static const int64_t APART = INT64_C(2000000000); /* nanoseconds */
    char list[600];
    const int64_t now = mst_clock_now();
    if (now - s->said < APART) return;
    list_workers(s, has_not_come, list, sizeof list);
    if (s->said && *list) mst_server_say(s, "waiting for %s", list);
    mst_task_status_wait_for(&s->status, list);
    s->said = now;
}

static bool is_waited_for_lost(const mst_server_worker *w) {
    return w->instance && w->lost && !w->left && !w->finished;
}

static mst_status tell_waiting(mst_server *s, const char *line) {
    mst_server_say(s, "%s", line);
    for (int32_t w = 0; w < s->num_workers; w++)
        if (s->worker[w].finished && !s->worker[w].lost) MST_TRY(send_line(s, MST_PS_NOTICE, w, 0, line));
    return MST_OK;
}

/* In an asynchronous job, some workers may have made their last step and wait for others that have never come or are
 * lost. The first server says so, also to these workers. */
static mst_status say_who_is_missing(mst_server *s, int64_t now) {
    static const int64_t APART = INT64_C(10000000000); /* nanoseconds */
    char list[500], line[600];
    bool have_finished = false;
    for (int32_t w = 0; w < s->num_workers; w++) have_finished |= s->worker[w].finished;
    if (!have_finished || mst_cluster_task(s->options.cluster, s->self).index > 0) s->said_missing = now;
    if (now - s->said_missing < (s->has_said_missing ? APART : APART / 5)) return MST_OK;
    s->said_missing = now;
    s->has_said_missing = true;
    if (*list_workers(s, has_not_come, list, sizeof list)) {
        snprintf(line, sizeof line, "waiting for %s: has not connected yet", list);
        MST_TRY(tell_waiting(s, line));
    }
    if (!*list_workers(s, is_waited_for_lost, list, sizeof list)) return MST_OK;
    snprintf(line, sizeof line, "waiting for %s: was connected, and is lost", list);
    return tell_waiting(s, line);
}

/* Once the workers have begun: notes for whom the server waits, for those who ask. */
static void note_whom(mst_server *s, int64_t now) {
    static const int64_t WHILE = INT64_C(1000000000); /* nanoseconds */
    char list[600] = "";
    if (s->waits_since && now - s->waits_since > WHILE) list_workers(s, sends_nothing, list, sizeof list);
    mst_task_status_wait_for(&s->status, list);
    mst_task_status_set(&s->status, s->parts ? MST_TASK_DONE : MST_TASK_SERVES);
    mst_task_status_step(&s->status, s->step, 0);
}

/* A worker that is lost for too long ends a synchronous job; an asynchronous one goes on without it. */
static mst_status check_lost(mst_server *s, int64_t now) {
    for (int32_t w = 0; w < s->num_workers; w++) {
        mst_server_worker *worker = &s->worker[w];
        if (!worker->lost || worker->left || (double)(now - worker->lost) < s->options.recovery_timeout * 1e9) continue;
        s->is_left = !s->round || s->job.synchronous || s->options.replay_updates;
        if (s->is_left)
            return MST_FAIL(MST_UNAVAILABLE,
                            "%s is lost (%s) and has not come back within %g s: look at its output, then start the job "
                            "again; with --checkpoint-dir it goes on from the last checkpoint",
                            mst_server_name(s, w), worker->why, s->options.recovery_timeout);
        mst_server_say(s, "goes on without %s", mst_server_name(s, w));
        worker->left = true;
        MST_TRY(end_when_all_left(s));
    }
    return MST_OK;
}

/* Lists the live workers for which a step waits, and what each was doing when last heard; "": none. */
static void list_late(mst_server *s, char *list, size_t size) {
    char heard[MST_TRANSPORT_DOING];
    size_t used = 0;
    *list = '\0';
    for (int32_t w = 0; w < s->num_workers && used < size; w++) {
        if (s->worker[w].gradients || s->worker[w].lost || s->worker[w].left) continue;
        mst_mail_heard(s->mail, w, heard);
        used += (size_t)snprintf(list + used, size - used, "%s%s, when last heard, %s", used ? "; " : "",
                                 mst_server_name(s, w), *heard ? heard : "said nothing");
    }
}

static void watch_step(mst_server *s, int64_t now) {
    static const double LATE = 10, AGAIN = 60; /* seconds */
    char list[1000];
    const double seconds = s->waits_since ? (double)(now - s->waits_since) * 1e-9 : 0;
    if (seconds < LATE) {
        if (s->warned) mst_server_say(s, "goes on, having waited for %.0f s", s->waited);
        s->warned = 0;
        return;
    }
    s->waited = seconds;
    if (s->warned && (double)(now - s->warned) < AGAIN * 1e9) return;
    list_late(s, list, sizeof list);
    if (!*list) return;
    s->warned = now;
    mst_server_say(s, "warning: step %lld has waited for %.0f s for %s", (long long)s->step, seconds, list);
}

static mst_status check_step(mst_server *s, int64_t now) {
    char list[1000];
    watch_step(s, now);
    if (!s->waits_since || (double)(now - s->waits_since) < s->options.step_timeout * 1e9) return MST_OK;
    list_late(s, list, sizeof list);
    return MST_FAIL(MST_DEADLINE, "step %lld has waited for %g s for %s", (long long)s->step, s->options.step_timeout,
                    *list ? list : "workers that are lost");
}

/* ---- leaving ---- */

static bool is_asked(const mst_server *s, bool (*what)(void *context)) {
    return what && what(s->options.context);
}

static mst_status say_leaving(mst_server *s, int64_t now) {
    s->leaves_since = now;
    for (int32_t w = 0; w < s->num_workers; w++) {
        const mst_task_message_head head = {.kind = MST_PS_LEAVING};
        if (s->worker[w].instance && !s->worker[w].lost) MST_TRY(mst_mail_send(s->mail, w, &head, NULL, 0, NULL));
    }
    return MST_OK;
}

/* Whether there is no state to hand over, or nobody who could take it. */
static bool has_nothing_to_leave(const mst_server *s) {
    const mst_server_worker *chief = &s->worker[s->chief];
    return !s->round || !chief->instance || chief->lost || chief->left || chief->has_state;
}

/* This server leaves when the chief has its state. It does not wait longer than for a lost chief. */
static mst_status go_on_leaving(mst_server *s, int64_t now) {
    if (!s->leaves_since) MST_TRY(say_leaving(s, now));
    const bool is_late = (double)(now - s->leaves_since) > s->options.timeout * 1e9;
    if (!s->may_leave && !is_late && !has_nothing_to_leave(s)) return MST_OK;
    s->ended = true;
    if (s->may_leave)
        mst_server_say(s, "leaves at step %lld: the chief has its state, and the others wait for its return",
                       (long long)s->step);
    else if (is_late)
        mst_server_say(s, "leaves at step %lld: the chief has not asked for its state within %g s", (long long)s->step,
                       s->options.timeout);
    return MST_FAIL(MST_CANCELLED, "the parameter server %s has left", mst_server_name(s, s->self));
}

/* A replay cannot go on after a task was started again. */
static mst_status check_stop(mst_server *s, int64_t now) {
    const bool leaves = is_asked(s, s->options.leave);
    if (is_asked(s, s->options.stop) || (leaves && s->options.replay_updates))
        return MST_FAIL(MST_CANCELLED, "the parameter server %s was stopped", mst_server_name(s, s->self));
    return leaves || s->leaves_since ? go_on_leaving(s, now) : MST_OK;
}

static mst_status serve(mst_server *s) {
    static const double TICK = 0.05;
    mst_status status = MST_OK;
    while (!status && !s->ended) {
        mst_stopwatch_start(&s->status.wait);
        mst_task_message *message = mst_mail_next(s->mail, mst_clock_after(TICK));
        mst_stopwatch_stop(&s->status.wait);
        if (message) status = take(s, &message);
        mst_server_end_message(s, message, status);
        const int64_t now = mst_clock_now();
        if (!status) status = check_lost(s, now);
        if (!status) status = check_step(s, now);
        if (!status) status = check_kept_out(s, now);
        if (!status) status = mst_server_remind_first(s, now);
        if (!status && s->round) status = say_who_is_missing(s, now);
        part(s);
        if (!s->round || (s->options.replay_updates && !s->replay))
            say_whom(s);
        else
            note_whom(s, now);
        if (!status) status = check_stop(s, now);
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
    if (s->worker) mst_server_clear(s); /* frees its messages before the mail is closed */
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
    mst_server s = {.options = *options};
    if (s.options.timeout == 0) s.options.timeout = 10;
    if (s.options.recovery_timeout == 0) s.options.recovery_timeout = 600;
    if (s.options.step_timeout == 0) s.options.step_timeout = 600;
    mst_status status = open_server(&s);
    if (!status) status = serve(&s);
    close_server(&s);
    return status;
}
