/* Requests to parameter servers, and their answers. */
#include "parameter_server/ps_client_inside.h"

#include <stdarg.h>
#include <string.h>

#include "base/byte_hash.h"
#include "base/clock.h"
#include "cluster/task_log.h"
#include "messages/state_message.h"
#include "parameter_server/ps_kept.h"
#include "store/store.h"

/* ---- the log ---- */

void mst_ps_say(const mst_ps_client *c, const char *format, ...) {
    va_list list;
    va_start(list, format);
    mst_task_log(c->options.log, c->options.cluster, format, list);
    va_end(list);
}

/* Notes for whom this worker waits. ALOUD: also in the log. */
static void say_whom(mst_ps_client *c, bool aloud) {
    static const int64_t APART = INT64_C(2000000000); /* nanoseconds */
    char name[500], list[1000] = "";
    size_t used = 0;
    const int64_t now = mst_clock_now();
    if (now - c->said < APART) return;
    for (int32_t p = 0; p < c->num_ps && used < sizeof list; p++)
        if (!c->server[p].answered)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                                     mst_mail_missing(c->mail, c->server[p].task, name, sizeof name));
    if (aloud) mst_ps_say(c, "waiting for %s", list);
    mst_task_status_wait_for(c->status, list);
    c->said = now;
}

/* ---- values ---- */

/* Takes *MESSAGE, which has the variables of server P, and sets it to NULL. */
static mst_status take_values(mst_ps_client *c, int32_t p, mst_task_message **message) {
    const mst_task_message_head head = (*message)->head;
    MST_TRY(mst_ps_values_take(&c->values, c->mail, p, message));
    c->server[p].round = head.round;
    c->server[p].position = head.number;
    c->server[p].step = c->server[p].has = head.step;
    return MST_OK;
}

static mst_status take_state(mst_ps_client *c, int32_t p, const mst_task_message *message) {
    mst_ps_server *s = &c->server[p];
    if (!c->collects) return MST_OK; /* nobody has asked for the state */
    mst_snapshot_release(s->state);
    s->state = NULL;
    s->step = message->head.step;
    return mst_state_message_decode(message->body, message->bytes, &s->state);
}

/* Takes the staleness counts of the first server, which only grow. */
static mst_status take_staleness(mst_ps_client *c, int32_t p, const mst_task_message *message) {
    const int64_t *from = message->body;
    const size_t count = message->bytes / sizeof *from;
    char name[300];
    if (p > 0) return MST_OK;
    bool fits = message->bytes % sizeof *from == 0 && count <= MST_STALENESS_COUNTS;
    for (size_t i = 0; fits && i < MST_STALENESS_COUNTS; i++) {
        c->staleness[i] = i < count ? from[i] : 0;
        fits = c->staleness[i] >= c->counted[i];
    }
    if (fits) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "%s has sent %zu bytes that are not counts of stale gradients: start the same program on all "
                    "tasks",
                    mst_mail_name(c->mail, message->from, name, sizeof name), message->bytes);
}

static mst_status take_rate(mst_ps_client *c, int32_t p, const mst_task_message *message) {
    char name[300];
    if (p > 0) return MST_OK; /* all servers have the same rate */
    if (message->bytes == sizeof c->rate) {
        memcpy(&c->rate, message->body, sizeof c->rate);
        return MST_OK;
    }
    return MST_FAIL(MST_INVALID,
                    "%s has sent %zu bytes in place of a learning rate: start the same program on all tasks",
                    mst_mail_name(c->mail, message->from, name, sizeof name), message->bytes);
}

static mst_status take_kept(mst_ps_client *c, int32_t p, const mst_task_message *message) {
    mst_snapshot *kept;
    char name[300];
    if (p > 0 || !c->takes_kept) return MST_OK;
    if (mst_ps_kept_decode(message->body, message->bytes, &kept))
        return mst_error_prefix("%s", mst_mail_name(c->mail, message->from, name, sizeof name));
    const mst_status status = mst_store_restore(c->program.store, kept);
    mst_snapshot_release(kept);
    return status;
}

/* ---- requests ---- */

bool mst_ps_have_order(const mst_ps_client *c) {
    const int32_t aggregate = c->program.aggregate;
    return c->program.synchronous && c->num_ps > 1 && aggregate &&
           aggregate < mst_cluster_num_workers(c->options.cluster);
}

/* The step of the values of server P; -1: the values of other servers have another step. */
static int64_t step_of_values(const mst_ps_client *c, int32_t p) {
    bool same = true;
    for (int32_t other = 0; other < c->num_ps; other++) same &= c->server[other].has == c->server[p].has;
    return same || !mst_ps_have_order(c) ? c->server[p].has : -1;
}

static mst_status send_to(mst_ps_client *c, int32_t p, const mst_ps_request *r) {
    mst_task_message_head head = r->head;
    head.request = c->request;
    if (head.kind == MST_PS_GRADIENTS) head.step = step_of_values(c, p);
    if (r->gradients) return mst_ps_gradients_send(r->gradients, c->mail, p, c->server[p].task, &head);
    return mst_mail_send(c->mail, c->server[p].task, &head, r->body ? &r->body[p] : NULL, r->body != NULL, NULL);
}

/* Sends R again to server P, which is connected again. If it is another server's turn, P only has to say whether it has
 * lost its values. If it has, this worker must join again: the server whose turn it is may wait for workers that cannot
 * go on without the values of P. */
static mst_status send_again(mst_ps_client *c, int32_t p, const mst_ps_request *r) {
    mst_ps_request again = *r;
    if (r->in_turn && p != r->turn) again.head.number = 0;
    return r->head.kind ? send_to(c, p, &again) : MST_OK;
}

static int32_t server_of(const mst_ps_client *c, int32_t task) {
    for (int32_t p = 0; p < c->num_ps; p++)
        if (c->server[p].task == task) return p;
    return -1;
}

/* The error if server P was started again: this worker must join again. */
static mst_status fail_empty(mst_ps_client *c, int32_t p) {
    char name[300];
    c->must_join = true;
    return MST_FAIL(MST_UNAVAILABLE, "%s was started again and has lost its variables",
                    mst_mail_name(c->mail, c->server[p].task, name, sizeof name));
}

/* Ends the job on all tasks because server P has ended it, cannot join, or is lost. Servers do not tell each other, so
 * this worker tells the other servers. */
static mst_status end_job_of_all(mst_ps_client *c, int32_t p, int32_t kind, const char *why) {
    const mst_task_message_head head = {.kind = kind, .number = 1, .step = c->is_left};
    c->failed = true;
    for (int32_t other = 0; other < c->num_ps; other++)
        if (other != p && !c->server[other].lost)
            MST_TRY(mst_mail_send(c->mail, c->server[other].task, &head, &(mst_iov){why, strlen(why)}, 1, NULL));
    return MST_FAIL(MST_UNAVAILABLE, "%s", why);
}

static mst_status fail_lost(mst_ps_client *c, int32_t p) {
    char name[500], why[1100];
    snprintf(why, sizeof why,
             "%s is lost (%s) and has not come back within %g s: look at its output, then start the job again; with "
             "--checkpoint-dir it goes on from the last checkpoint",
             mst_mail_missing(c->mail, c->server[p].task, name, sizeof name), c->server[p].why,
             c->options.recovery_timeout);
    c->is_left = true;
    return end_job_of_all(c, p, MST_PS_FAILED, why);
}

/* Handles a message that a process of server P cannot join. If this worker has joined, the job goes on: either P was
 * lost and comes back, or P runs and this is a second process. */
static mst_status hear_cannot_join(mst_ps_client *c, int32_t p, const char *why) {
    char name[300], text[1500];
    mst_mail_name(c->mail, c->server[p].task, name, sizeof name);
    if (c->round) {
        mst_ps_say(c, "%s cannot join, and the job goes on: %s", name, why);
        return MST_OK;
    }
    snprintf(text, sizeof text, "%s: %s", name, why);
    mst_mail_linger(c->mail, MST_PS_LINGER);
    return end_job_of_all(c, p, MST_TASK_MESSAGE_CANNOT_JOIN, text);
}

/* Notes that the process at the server's address has another list of tasks. If that process belongs to another job, the
 * server itself cannot listen at the address, and soon says so. */
static void hear_list_mismatch(mst_ps_server *s, const char *why) {
    if (!s->list_mismatch) s->list_mismatch = mst_clock_now();
    snprintf(s->why, sizeof s->why, "%s", why);
}

/* Tells the servers that another worker was given other lists of tasks. That worker may never connect to the servers
 * itself. */
static mst_status hear_worker_list_mismatch(mst_ps_client *c, const mst_task_message *message) {
    const mst_task_message_head head = {.kind = MST_TASK_MESSAGE_CANNOT_JOIN, .number = message->from + 2};
    const char *why = message->body;
    if (!c->list_mismatch) c->list_mismatch = mst_clock_now();
    c->list_mismatch_worker = message->from;
    snprintf(c->list_mismatch_why, sizeof c->list_mismatch_why, "%s", why);
    for (int32_t p = 0; p < c->num_ps; p++)
        if (!c->server[p].lost)
            MST_TRY(mst_mail_send(c->mail, c->server[p].task, &head, &(mst_iov){why, strlen(why)}, 1, NULL));
    return MST_OK;
}

/* Ends the job if no server has ended it within LATE nanoseconds after hear_worker_list_mismatch(): then no server can
 * be reached. */
static mst_status check_worker_list_mismatch(mst_ps_client *c, int64_t late) {
    char name[300], text[1000];
    if (c->round || !c->list_mismatch || mst_clock_now() - c->list_mismatch <= late) return MST_OK;
    mst_mail_name(c->mail, c->list_mismatch_worker, name, sizeof name);
    snprintf(text, sizeof text, "%s: %s", name, c->list_mismatch_why);
    mst_mail_linger(c->mail, MST_PS_LINGER);
    return end_job_of_all(c, -1, MST_PS_FAILED, text);
}

static mst_status check_list_mismatch(mst_ps_client *c) {
    static const int64_t SERVER_MAY_BE_LATE = INT64_C(2000000000); /* nanoseconds */
    const int64_t now = mst_clock_now();
    for (int32_t p = 0; p < c->num_ps && !c->round; p++)
        if (c->server[p].list_mismatch && now - c->server[p].list_mismatch > SERVER_MAY_BE_LATE)
            return hear_cannot_join(c, p, c->server[p].why);
    return check_worker_list_mismatch(c, 2 * SERVER_MAY_BE_LATE);
}

/* Once one server has sent DONE: tells the other servers, once per second, that all workers have done their work. A
 * server that was cut off from a worker that was leaving would otherwise wait for that worker's return. */
static mst_status pass_on_end(mst_ps_client *c, const mst_ps_request *r) {
    static const int64_t APART = INT64_C(1000000000); /* nanoseconds */
    const int64_t now = mst_clock_now();
    if (!c->all_left || now - c->all_left < APART) return MST_OK;
    c->all_left = now;
    for (int32_t p = 0; p < c->num_ps; p++) {
        mst_ps_request all = *r;
        all.head.step = 1;
        if (!c->server[p].answered && !c->server[p].lost) MST_TRY(send_to(c, p, &all));
    }
    return MST_OK;
}

/* Handles an answer of server P, or an event of its connection. */
static mst_status take(mst_ps_client *c, int32_t p, const mst_ps_request *r, mst_task_message **from) {
    mst_ps_server *s = &c->server[p];
    const mst_task_message *message = *from;
    const int32_t kind = message->head.kind;
    char name[300];
    /* the message answers an earlier request */
    if (message->head.request && message->head.request != c->request) return MST_OK;
    switch (kind) {
        case MST_TASK_MESSAGE_CONNECTED:
            s->list_mismatch = 0;
            if (!s->lost) return MST_OK;
            s->lost = 0;
            mst_ps_say(c, "%s is there again", mst_mail_name(c->mail, s->task, name, sizeof name));
            return send_again(c, p, r);
        case MST_TASK_MESSAGE_LOST:
            if (s->lost) return MST_OK;
            s->lost = s->was_lost = mst_clock_now();
            s->leaves = false;
            snprintf(s->why, sizeof s->why, "%s", (const char *)message->body);
            mst_ps_say(c, "%s is lost: %s", mst_mail_name(c->mail, s->task, name, sizeof name), s->why);
            return MST_OK;
        case MST_PS_NOTICE: mst_ps_say(c, "%s", (const char *)message->body); return MST_OK;
        case MST_PS_LEAVING:
            s->leaves = true;
            mst_ps_say(c, "%s is leaving: waiting until it is started again",
                       mst_mail_name(c->mail, s->task, name, sizeof name));
            return MST_OK;
        case MST_PS_FAILED:
            if (c->failed) return MST_OK; /* nothing new: this worker knows that the job has ended */
            c->is_left = message->head.step == 1;
            return end_job_of_all(c, p, MST_PS_FAILED, message->body);
        case MST_TASK_MESSAGE_CANNOT_JOIN:
            if (message->instance) return hear_cannot_join(c, p, message->body);
            hear_list_mismatch(s, message->body);
            return MST_OK;
        case MST_TASK_MESSAGE_NO_MEMORY:
            return MST_FAIL(MST_OUT_OF_MEMORY, "no memory for %s, sent by %s: take a smaller model",
                            (const char *)message->body, mst_mail_name(c->mail, s->task, name, sizeof name));
        case MST_PS_EMPTY:
            if (!r->joins) return fail_empty(c, p);
            s->answered = true;
            s->round = 0;
            return MST_OK;
        case MST_PS_DONE:
            if (r->joins)
                return MST_FAIL(MST_UNAVAILABLE,
                                "the job has ended while this worker was away, and the other workers have its weights: "
                                "to train on, start all tasks again");
            if (!c->all_left) c->all_left = mst_clock_now();
            if (c->has_last && message->bytes == 0) break; /* the server has lost its values */
            s->sent_last = true;
            s->sent_others = mst_byte_hash(message->body, message->bytes) != s->last;
            MST_TRY(take_values(c, p, from));
            break;
        case MST_PS_FINISHED:
            s->last = mst_byte_hash(message->body, message->bytes);
            MST_TRY(take_values(c, p, from));
            break;
        case MST_PS_VALUES: MST_TRY(take_values(c, p, from)); break;
        case MST_PS_STATE: MST_TRY(take_state(c, p, message)); break;
        case MST_PS_STALENESS: MST_TRY(take_staleness(c, p, message)); break;
        case MST_PS_RATE: MST_TRY(take_rate(c, p, message)); break;
        case MST_PS_KEPT: MST_TRY(take_kept(c, p, message)); break;
        case MST_PS_AGREE: c->instructions = (uint64_t)message->head.number; break;
        case MST_PS_STOP: c->is_ended = true; return MST_OK;
        case MST_PS_TAKEN: break;
        default: return MST_OK;
    }
    s->answered |= kind == r->answer;
    return MST_OK;
}

int32_t mst_ps_unanswered(const mst_ps_client *c) {
    int32_t p = 0;
    while (p < c->num_ps && c->server[p].answered) p++;
    return p;
}

static mst_status check_lost(mst_ps_client *c, const mst_ps_request *r) {
    const int64_t now = mst_clock_now();
    MST_TRY(check_list_mismatch(c));
    for (int32_t p = 0; p < c->num_ps; p++) {
        mst_ps_server *s = &c->server[p];
        /* in the last request, a server that was lost is waited for only this long after its loss, even if it is
         * connected again: it may itself wait for workers that have left */
        if (r->is_last && s->was_lost)
            s->answered |= (double)(now - s->was_lost) > c->options.recovery_timeout * 1e9;
        else if (!s->answered && s->lost && (double)(now - s->lost) > c->options.recovery_timeout * 1e9)
            return fail_lost(c, p);
    }
    return MST_OK;
}

bool mst_ps_is_one_leaving(const mst_ps_client *c) {
    bool is = false;
    for (int32_t p = 0; p < c->num_ps; p++) is |= c->server[p].leaves;
    return is;
}

bool mst_ps_is_one_lost(const mst_ps_client *c) {
    bool is = false;
    for (int32_t p = 0; p < c->num_ps; p++) is |= c->server[p].lost != 0;
    return is;
}

static bool is_over(const mst_ps_client *c, const mst_ps_request *r) {
    if (mst_ps_unanswered(c) == c->num_ps || (r->until && mst_clock_now() > r->until)) return true;
    return r->at_end ? mst_ps_is_one_lost(c) : r->until && mst_ps_is_one_leaving(c);
}

/* Whether this worker must stop, and R is therefore given up. */
static bool is_given_up(mst_ps_client *c, const mst_ps_request *r) {
    c->stopped |= !r->at_end && c->options.stop && c->options.stop(c->options.context);
    return c->stopped && !r->at_end;
}

mst_status mst_ps_take_next(mst_ps_client *c, const mst_ps_request *r, double seconds) {
    mst_task_message *message = mst_mail_next(c->mail, mst_clock_after(seconds));
    const int32_t p = message ? server_of(c, message->from) : -1;
    const bool is_list_mismatch =
        message && p < 0 && message->head.kind == MST_TASK_MESSAGE_CANNOT_JOIN && !message->instance;
    const mst_status status = p >= 0             ? take(c, p, r, &message)
                              : is_list_mismatch ? hear_worker_list_mismatch(c, message)
                                                 : MST_OK;
    mst_task_message_free(message);
    return status;
}

static mst_status send_and_wait(mst_ps_client *c, const mst_ps_request *r) {
    static const double TICK = 0.05; /* seconds */
    mst_status status = MST_OK;
    c->request++;
    for (int32_t p = 0; p < c->num_ps; p++) {
        c->server[p].answered = r->in_turn && p != r->turn;
        if (!c->server[p].answered && !c->server[p].lost) MST_TRY(send_to(c, p, r));
    }
    c->said = mst_clock_now();
    c->all_left = 0;
    while (!status && !is_over(c, r)) {
        status = mst_ps_take_next(c, r, TICK);
        if (!status && !r->at_end) status = check_lost(c, r);
        if (!status) status = pass_on_end(c, r);
        if (!status && mst_ps_unanswered(c) < c->num_ps) say_whom(c, r->joins);
        if (!status && mst_ps_unanswered(c) < c->num_ps && is_given_up(c, r))
            status = MST_FAIL(MST_CANCELLED, "stopped while waiting for the parameter servers");
    }
    return status;
}

mst_status mst_ps_ask(mst_ps_client *c, const mst_ps_request *r) {
    mst_stopwatch_start(c->status ? &c->status->wait : NULL);
    const mst_status status = send_and_wait(c, r);
    mst_stopwatch_stop(c->status ? &c->status->wait : NULL);
    mst_task_status_wait_for(c->status, "");
    return status;
}
