#include "cluster/ps_client.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "cluster/ps_begin.h"
#include "cluster/ps_gradients.h"
#include "cluster/ps_values.h"
#include "cluster/state_message.h"
#include "cluster/task_log.h"
#include "store/store.h"

/* A server, and what it has been asked. */
typedef struct server {
    int32_t task;
    bool answered;    /* the request */
    int64_t lost;     /* since when; 0: it is not */
    int64_t was_lost; /* when it was lost last */
    char why[256];    /* lost */
    uint32_t round;   /* as it has answered; 0: it has no values */
    int64_t position; /* of this worker, likewise */
    int64_t step;
    int64_t has; /* the step of the values that it has sent */
    bool leaves; /* it has said so */
} server;

/* A request to all servers: sent again to one whose connection was broken. One that has answered before, and was
 * started again, says so then; the others may wait for it. */
typedef struct request {
    mst_parcel_head head;
    mst_parcel_kind answer;            /* that is wanted */
    const mst_iov *body;               /* [num_ps]; NULL: none */
    const mst_ps_gradients *gradients; /* in place of it */
    bool joins;    /* answers may take as long as they like, and it is said for whom this task waits */
    bool is_last;  /* this worker has all that it needs of the servers, of which one that was lost may not answer */
    int64_t until; /* they are not waited for any longer, nor when one of them leaves; 0: for ever */
    bool at_end; /* also where this worker is to stop, or the job has ended; servers that are lost are not waited for */
    bool in_turn; /* it is for server `turn` alone */
    int32_t turn;
} request;

struct mst_ps_client {
    mst_task_options options;
    mst_mail *mail;
    mst_task_status *status; /* the task's */
    int32_t num_ps, self;
    server *server;         /* [num_ps] */
    mst_ps_program program; /* without what is the caller's */
    mst_graph **graph;      /* of the chief, [num_ps]: the updates of the servers */
    mst_fingerprint *fingerprint;
    mst_ps_values values; /* from answers */
    mst_ps_gradients gradients;
    mst_snapshot *kept; /* of the chief: from which servers that are started again begin */
    int64_t kept_at, kept_position;
    mst_snapshot *joined_state; /* while state is asked for: variables, slots and averages that are cut */
    uint64_t request;           /* number of the last one */
    uint32_t round;             /* of all servers */
    uint32_t began;             /* the last round that this worker has begun */
    /* how stale gradients were, by the first server: as it has answered, and as it had where the counts begin */
    int64_t staleness[MST_STALENESS_COUNTS], counted[MST_STALENESS_COUNTS];
    int64_t finished; /* how many trainings */
    bool has_last;    /* this worker has the last values of the last of them, and the chief all state */
    float rate;       /* learning rate of the first server, as it has answered */
    bool joined, must_join;
    bool is_between; /* synchronous servers have not all made the update of the step that this worker makes next */
    bool failed;     /* the job has ended */
    bool is_left;    /* ... since a task stays away, and what the others have is whole */
    bool stopped;    /* this worker is to stop, and a request was given up for that */
    int64_t said;    /* for whom it waits: when */
};

/* ---- opening and closing ---- */

mst_status mst_ps_client_open(const mst_task_options *options, const mst_mail_options *mail, mst_ps_client **out) {
    mst_ps_client *c = calloc(1, sizeof *c);
    if (!c) return MST_NO_MEMORY("for a task");
    mst_mail_options own = *mail;
    own.borrows = true;
    c->options = *options;
    c->status = mail->status;
    c->self = mst_cluster_self(options->cluster);
    c->num_ps = mst_cluster_num_ps(options->cluster);
    c->server = calloc((size_t)c->num_ps, sizeof *c->server);
    mst_status status = c->server ? mst_mail_open(&own, &c->mail) : MST_NO_MEMORY("for a task");
    if (status) {
        mst_ps_client_close(c);
        return status;
    }
    randombytes_buf(&c->request, sizeof c->request);
    c->request >>= 1;
    for (int32_t p = 0; p < c->num_ps; p++) c->server[p].task = mst_cluster_find(options->cluster, "ps", p);
    *out = c;
    return MST_OK;
}

static void free_program(mst_ps_client *c) {
    for (int32_t p = 0; p < c->num_ps && c->graph; p++) mst_graph_destroy(c->graph[p]);
    free(c->graph);
    free(c->fingerprint);
    c->graph = NULL, c->fingerprint = NULL;
}

void mst_ps_client_close(mst_ps_client *c) {
    if (!c) return;
    mst_ps_values_free(&c->values);
    mst_ps_gradients_free(&c->gradients, c->mail);
    mst_mail_close(c->mail);
    mst_snapshot_release(c->kept);
    mst_snapshot_release(c->joined_state);
    free_program(c);
    mst_store_release(c->program.store);
    free(c->server);
    free(c);
}

int32_t mst_ps_client_num_servers(const mst_ps_client *c) {
    return c->num_ps;
}

/* ---- the log ---- */

static void say(const mst_ps_client *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const mst_ps_client *c, const char *format, ...) {
    va_list list;
    va_start(list, format);
    mst_task_log(c->options.log, c->options.cluster, format, list);
    va_end(list);
}

/* ALOUD: also in the log. */
static void say_whom(mst_ps_client *c, bool aloud) {
    static const int64_t APART = INT64_C(2000000000); /* nanoseconds */
    char name[300], list[600] = "";
    size_t used = 0;
    const int64_t now = mst_clock_now();
    if (now - c->said < APART) return;
    for (int32_t p = 0; p < c->num_ps && used < sizeof list; p++)
        if (!c->server[p].answered)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                                     mst_mail_name(c->mail, c->server[p].task, name, sizeof name));
    if (aloud) say(c, "waiting for %s", list);
    mst_task_status_wait_for(c->status, list);
    c->said = now;
}

/* ---- values ---- */

/* Takes the variables of server P, which *PARCEL has; it is NULL where it is kept for them. */
static mst_status take_values(mst_ps_client *c, int32_t p, mst_parcel **parcel) {
    const mst_parcel_head head = (*parcel)->head;
    MST_TRY(mst_ps_values_take(&c->values, c->mail, p, parcel));
    c->server[p].round = head.round;
    c->server[p].position = head.number;
    c->server[p].step = c->server[p].has = head.step;
    return MST_OK;
}

static mst_status take_state(mst_ps_client *c, int32_t p, const mst_parcel *parcel) {
    mst_snapshot *state, *own = NULL;
    if (!c->joined_state) return MST_OK; /* nobody has asked for it */
    MST_TRY(mst_state_message_decode(parcel->body, parcel->bytes, &state));
    mst_status status = mst_ps_join_state(&c->values.copies, p, state, c->joined_state, &own);
    mst_snapshot_release(state);
    MST_TRY(status);
    status = mst_store_restore(c->program.store, own);
    mst_snapshot_release(own);
    c->server[p].step = parcel->head.step;
    return status;
}

/* Counts that rise, of the first server. */
static mst_status take_staleness(mst_ps_client *c, int32_t p, const mst_parcel *parcel) {
    const int64_t *from = parcel->body;
    const size_t count = parcel->bytes / sizeof *from;
    char name[300];
    if (p > 0) return MST_OK;
    bool fits = parcel->bytes % sizeof *from == 0 && count <= MST_STALENESS_COUNTS;
    for (size_t i = 0; fits && i < MST_STALENESS_COUNTS; i++) {
        c->staleness[i] = i < count ? from[i] : 0;
        fits = c->staleness[i] >= c->counted[i];
    }
    if (fits) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "%s has sent %zu bytes that do not say how stale gradients were: start the same program on all "
                    "tasks",
                    mst_mail_name(c->mail, parcel->from, name, sizeof name), parcel->bytes);
}

static mst_status take_rate(mst_ps_client *c, int32_t p, const mst_parcel *parcel) {
    char name[300];
    if (p > 0) return MST_OK; /* all have the same */
    if (parcel->bytes == sizeof c->rate) {
        memcpy(&c->rate, parcel->body, sizeof c->rate);
        return MST_OK;
    }
    return MST_FAIL(MST_INVALID,
                    "%s has sent %zu bytes, which are no learning rate: start the same program on all tasks",
                    mst_mail_name(c->mail, parcel->from, name, sizeof name), parcel->bytes);
}

/* Gives the store the values that all servers have sent. */
static mst_status store_values(mst_ps_client *c) {
    return mst_ps_values_store(&c->values, c->program.store, c->server[0].has);
}

/* ---- requests ---- */

static mst_status send_to(mst_ps_client *c, int32_t p, const request *r) {
    mst_parcel_head head = r->head;
    head.request = c->request;
    if (head.kind == MST_PARCEL_GRADIENTS) head.step = c->server[p].has;
    if (r->gradients) return mst_ps_gradients_send(r->gradients, c->mail, p, c->server[p].task, &head);
    return mst_mail_send(c->mail, c->server[p].task, &head, r->body ? &r->body[p] : NULL, r->body != NULL, NULL);
}

/* Sends R to server P, which is connected again. Where it is another one's turn, P only says whether it has lost its
 * values: the one whose turn it is may wait for workers that cannot go on without them. */
static mst_status send_again(mst_ps_client *c, int32_t p, const request *r) {
    request again = *r;
    if (r->in_turn && p != r->turn) again.head.number = 0;
    return r->head.kind ? send_to(c, p, &again) : MST_OK;
}

static int32_t server_of(const mst_ps_client *c, int32_t task) {
    for (int32_t p = 0; p < c->num_ps; p++)
        if (c->server[p].task == task) return p;
    return -1;
}

/* The server was started again, and this worker must join anew. */
static mst_status fail_empty(mst_ps_client *c, int32_t p) {
    char name[300];
    c->must_join = true;
    return MST_FAIL(MST_UNAVAILABLE, "%s was started again and has lost its variables",
                    mst_mail_name(c->mail, c->server[p].task, name, sizeof name));
}

/* Server P has ended the job, cannot join or is lost: the other servers, who do not talk to it, hear of it from the
 * workers. */
static mst_status end_job_of_all(mst_ps_client *c, int32_t p, mst_parcel_kind kind, const char *why) {
    const mst_parcel_head head = {.kind = kind, .number = 1, .step = c->is_left};
    c->failed = true;
    for (int32_t other = 0; other < c->num_ps; other++)
        if (other != p && !c->server[other].lost)
            MST_TRY(mst_mail_send(c->mail, c->server[other].task, &head, &(mst_iov){why, strlen(why)}, 1, NULL));
    return MST_FAIL(MST_UNAVAILABLE, "%s", why);
}

static mst_status fail_lost(mst_ps_client *c, int32_t p) {
    char name[300], why[900];
    snprintf(
        why, sizeof why,
        "%s is lost (%s) and has not come back within %g s: look at its output, then start the job again, which goes "
        "on from the last checkpoint where it has --checkpoint-dir",
        mst_mail_name(c->mail, c->server[p].task, name, sizeof name), c->server[p].why, c->options.recovery_timeout);
    c->is_left = true;
    return end_job_of_all(c, p, MST_PARCEL_FAILED, why);
}

enum { LINGER = 5 /* seconds, for servers that have just been started */ };

/* Once there have been values, server P is one that was lost, or another process too many. */
static mst_status hear_cannot_join(mst_ps_client *c, int32_t p, const char *why) {
    char name[300], text[1500];
    mst_mail_name(c->mail, c->server[p].task, name, sizeof name);
    if (c->round) {
        say(c, "%s cannot join, and the job goes on: %s", name, why);
        return MST_OK;
    }
    snprintf(text, sizeof text, "%s: %s", name, why);
    mst_mail_linger(c->mail, LINGER);
    return end_job_of_all(c, p, MST_PARCEL_CANNOT_JOIN, text);
}

/* What server P has answered, or what has happened to its connection. */
static mst_status take(mst_ps_client *c, int32_t p, const request *r, mst_parcel **from) {
    server *s = &c->server[p];
    const mst_parcel *parcel = *from;
    const mst_parcel_kind kind = parcel->head.kind;
    char name[300];
    if (parcel->head.request && parcel->head.request != c->request) return MST_OK; /* it answers an earlier one */
    switch (kind) {
        case MST_PARCEL_CONNECTED:
            if (!s->lost) return MST_OK;
            s->lost = 0;
            say(c, "%s is there again", mst_mail_name(c->mail, s->task, name, sizeof name));
            return send_again(c, p, r);
        case MST_PARCEL_LOST:
            if (s->lost) return MST_OK;
            s->lost = s->was_lost = mst_clock_now();
            s->leaves = false;
            snprintf(s->why, sizeof s->why, "%s", (const char *)parcel->body);
            say(c, "%s is lost: %s", mst_mail_name(c->mail, s->task, name, sizeof name), s->why);
            return MST_OK;
        case MST_PARCEL_NOTICE: say(c, "%s", (const char *)parcel->body); return MST_OK;
        case MST_PARCEL_LEAVING:
            s->leaves = true;
            say(c, "%s leaves, and is waited for", mst_mail_name(c->mail, s->task, name, sizeof name));
            return MST_OK;
        case MST_PARCEL_FAILED:
            if (c->failed) return MST_OK; /* as this worker knows */
            c->is_left = parcel->head.step == 1;
            return end_job_of_all(c, p, MST_PARCEL_FAILED, parcel->body);
        case MST_PARCEL_CANNOT_JOIN: return hear_cannot_join(c, p, parcel->body);
        case MST_PARCEL_EMPTY:
            if (!r->joins) return fail_empty(c, p);
            s->answered = true;
            s->round = 0;
            return MST_OK;
        case MST_PARCEL_DONE:
            if (c->has_last) break; /* it may have lost them */
            MST_TRY(take_values(c, p, from));
            break;
        case MST_PARCEL_FINISHED:
        case MST_PARCEL_VALUES: MST_TRY(take_values(c, p, from)); break;
        case MST_PARCEL_STATE: MST_TRY(take_state(c, p, parcel)); break;
        case MST_PARCEL_STALENESS: MST_TRY(take_staleness(c, p, parcel)); break;
        case MST_PARCEL_RATE: MST_TRY(take_rate(c, p, parcel)); break;
        case MST_PARCEL_TAKEN: break;
        default: return MST_OK;
    }
    s->answered |= kind == r->answer;
    return MST_OK;
}

/* The first server that has not answered; num_ps: all have. */
static int32_t unanswered(const mst_ps_client *c) {
    int32_t p = 0;
    while (p < c->num_ps && c->server[p].answered) p++;
    return p;
}

static mst_status check_lost(mst_ps_client *c, const request *r) {
    const int64_t now = mst_clock_now();
    for (int32_t p = 0; p < c->num_ps; p++) {
        server *s = &c->server[p];
        if (r->is_last && s->was_lost) /* also where it is there again: others may have left before that */
            s->answered |= (double)(now - s->was_lost) > c->options.recovery_timeout * 1e9;
        else if (!s->answered && s->lost && (double)(now - s->lost) > c->options.recovery_timeout * 1e9)
            return fail_lost(c, p);
    }
    return MST_OK;
}

/* The chief is to take the state of the servers before one of them leaves. */
static bool is_one_leaving(const mst_ps_client *c) {
    bool is = false;
    for (int32_t p = 0; p < c->num_ps; p++) is |= c->server[p].leaves;
    return is;
}

static bool is_one_lost(const mst_ps_client *c) {
    bool is = false;
    for (int32_t p = 0; p < c->num_ps; p++) is |= c->server[p].lost != 0;
    return is;
}

static bool is_over(const mst_ps_client *c, const request *r) {
    if (unanswered(c) == c->num_ps || (r->until && mst_clock_now() > r->until)) return true;
    return r->at_end ? is_one_lost(c) : r->until && is_one_leaving(c);
}

/* Whether this worker is to stop. */
static bool is_given_up(mst_ps_client *c, const request *r) {
    c->stopped |= !r->at_end && c->options.stop && c->options.stop(c->options.context);
    return c->stopped && !r->at_end;
}

/* Takes what comes within SECONDS, if anything does. */
static mst_status take_next(mst_ps_client *c, const request *r, double seconds) {
    mst_parcel *parcel = mst_mail_next(c->mail, mst_clock_after(seconds));
    const int32_t p = parcel ? server_of(c, parcel->from) : -1;
    const mst_status status = p >= 0 ? take(c, p, r, &parcel) : MST_OK;
    mst_parcel_free(parcel);
    return status;
}

static mst_status send_and_wait(mst_ps_client *c, const request *r) {
    static const double TICK = 0.05;
    mst_status status = MST_OK;
    c->request++;
    for (int32_t p = 0; p < c->num_ps; p++) {
        c->server[p].answered = r->in_turn && p != r->turn;
        if (!c->server[p].answered && !c->server[p].lost) MST_TRY(send_to(c, p, r));
    }
    c->said = mst_clock_now();
    while (!status && !is_over(c, r)) {
        status = take_next(c, r, TICK);
        if (!status && !r->at_end) status = check_lost(c, r);
        if (!status && unanswered(c) < c->num_ps) say_whom(c, r->joins);
        if (!status && unanswered(c) < c->num_ps && is_given_up(c, r))
            status = MST_FAIL(MST_CANCELLED, "stopped while waiting for the parameter servers");
    }
    return status;
}

/* Sends R to all servers (to one, in turn), to one that is lost when it is there again, and waits until all have
 * answered. */
static mst_status ask(mst_ps_client *c, const request *r) {
    mst_stopwatch_start(c->status ? &c->status->wait : NULL);
    const mst_status status = send_and_wait(c, r);
    mst_stopwatch_stop(c->status ? &c->status->wait : NULL);
    mst_task_status_wait_for(c->status, "");
    return status;
}

/* ---- joining ---- */

static bool is_chief(const mst_ps_client *c) {
    return mst_cluster_is_chief(c->options.cluster);
}

/* The state of the store becomes that from which servers begin that are started again. */
static mst_status keep_state_of_servers(mst_ps_client *c) {
    c->kept_at = mst_clock_now();
    return mst_store_snapshot_again(c->program.store, &c->kept);
}

/* Where none is kept, that of this process. */
static mst_status keep_own_state(mst_ps_client *c) {
    if (c->kept) return MST_OK;
    c->kept_position = c->program.position;
    return keep_state_of_servers(c);
}

/* Whether servers that bound the staleness give values one after the other. */
static bool gives_in_turn(const mst_ps_client *c) {
    return c->num_ps > 1 && !c->program.synchronous && c->program.staleness >= 0;
}

/* The chief: all servers begin with the state that is kept, or with that of the store where there is none. */
static mst_status send_begin(mst_ps_client *c, uint32_t round) {
    const mst_ps_program *o = &c->program;
    mst_iov *body = calloc((size_t)c->num_ps, sizeof *body);
    if (!body) return MST_NO_MEMORY("for %d parameter servers", c->num_ps);
    mst_status status = keep_own_state(c);
    const mst_ps_job job = {.synchronous = o->synchronous,
                            .aggregate = o->aggregate,
                            .staleness = o->staleness,
                            .in_turn = gives_in_turn(c),
                            .num_shards = o->num_shards,
                            .last_step = o->last_step,
                            .position = c->kept_position,
                            .is_again = c->round > 0};
    for (int32_t p = 0; p < c->num_ps && !status; p++) {
        void *data = NULL;
        mst_snapshot *state;
        status = mst_ps_cut_state(&c->values.copies, p, c->kept, &state);
        if (status) break;
        status = mst_ps_begin_encode(&job, p, c->graph[p], state, &data, &body[p].bytes);
        mst_snapshot_release(state);
        body[p].data = data;
    }
    const request r = {
        .head = {.kind = MST_PARCEL_BEGIN, .round = round}, .answer = MST_PARCEL_VALUES, .body = body, .joins = true};
    if (!status) status = ask(c, &r);
    if (!status) c->began = round;
    for (int32_t p = 0; p < c->num_ps; p++) free((void *)(uintptr_t)body[p].data);
    free(body);
    return status;
}

/* Asks all servers how they are. */
static mst_status say_hello(mst_ps_client *c, int64_t number) {
    mst_iov *body = calloc((size_t)c->num_ps, sizeof *body);
    if (!body) return MST_NO_MEMORY("for %d parameter servers", c->num_ps);
    for (int32_t p = 0; p < c->num_ps; p++)
        body[p] = (mst_iov){c->fingerprint, (size_t)c->program.num_fingerprints * sizeof *c->fingerprint};
    const request r = {.head = {.kind = MST_PARCEL_HELLO, .number = number, .step = c->finished},
                       .answer = MST_PARCEL_VALUES,
                       .body = body,
                       .joins = true};
    const mst_status status = ask(c, &r);
    free(body);
    return status;
}

/* Whether all servers have values of one round; *LAST is the latest. */
static bool is_one_round(const mst_ps_client *c, uint32_t *last) {
    bool same = true;
    *last = 0;
    for (int32_t p = 0; p < c->num_ps; p++) {
        same &= c->server[p].round == c->server[0].round;
        if (c->server[p].round > *last) *last = c->server[p].round;
    }
    return same && *last > 0;
}

/* Until all servers have values: the chief gives them, the others ask again. */
static mst_status agree(mst_ps_client *c) {
    static const double AGAIN = 0.1; /* seconds */
    for (uint32_t last;;) {
        MST_TRY(say_hello(c, 0));
        if (!is_one_round(c, &last) && is_chief(c)) MST_TRY(send_begin(c, last + 1));
        if (is_one_round(c, &last)) {
            c->round = last;
            return MST_OK;
        }
        MST_TRY(take_next(c, &(request){.joins = true}, AGAIN));
    }
}

/* Servers that are ahead drop what they have. */
static int64_t smallest_position(const mst_ps_client *c) {
    int64_t position = c->server[0].position;
    for (int32_t p = 1; p < c->num_ps; p++)
        if (c->server[p].position < position) position = c->server[p].position;
    return position;
}

/* Where it is not, this worker was lost when its gradients had come to some of the servers. */
static bool is_one_position(const mst_ps_client *c) {
    bool same = true;
    for (int32_t p = 1; p < c->num_ps; p++) same &= c->server[p].position == c->server[0].position;
    return same;
}

/* The servers that are ahead send the values with which this worker made its gradients at POSITION, so that it makes
 * the same once more. All state of the servers is of one step only after that, and is kept then. */
static mst_status join_between(mst_ps_client *c, int64_t position) {
    MST_TRY(say_hello(c, position + 1));
    if (!is_chief(c)) return MST_OK;
    MST_TRY(keep_own_state(c));
    c->kept_at = 0;
    return MST_OK;
}

static mst_status ask_staleness(mst_ps_client *c) {
    return ask(c, &(request){.head = {.kind = MST_PARCEL_STALENESS}, .answer = MST_PARCEL_STALENESS});
}

/* Of a round that this worker has begun all gradients are counted, else those from now on. */
static mst_status begin_counting(mst_ps_client *c) {
    memset(c->counted, 0, sizeof c->counted);
    if (c->program.synchronous || c->began == c->round) return MST_OK;
    MST_TRY(ask_staleness(c));
    memcpy(c->counted, c->staleness, sizeof c->counted);
    return MST_OK;
}

static mst_status copy_graph(const mst_graph *graph, mst_graph **out) {
    void *data;
    size_t size;
    MST_TRY(mst_graph_encode(graph, &data, &size));
    const mst_status status = mst_graph_decode(data, size, out);
    free(data);
    return status;
}

/* Servers may have to begin again when the caller has freed what it has given. */
static mst_status copy_program(mst_ps_client *c, const mst_ps_program *program) {
    const size_t count = (size_t)program->num_fingerprints;
    free_program(c);
    mst_store_retain(program->store);
    mst_store_release(c->program.store);
    c->program = *program;
    c->program.graph = NULL, c->program.variable = NULL, c->program.fingerprint = NULL;
    c->fingerprint = malloc(count * sizeof *c->fingerprint + 1);
    c->graph = calloc((size_t)c->num_ps, sizeof(mst_graph *));
    if (!c->fingerprint || !c->graph) return MST_NO_MEMORY("for %d parameter servers", c->num_ps);
    memcpy(c->fingerprint, program->fingerprint, count * sizeof *c->fingerprint);
    for (int32_t p = 0; p < c->num_ps && is_chief(c); p++) MST_TRY(copy_graph(program->graph[p], &c->graph[p]));
    return MST_OK;
}

static mst_status make_gradients(mst_ps_client *c) {
    if (c->gradients.piece && c->gradients.num_leaves == c->program.num_leaves) return MST_OK;
    mst_ps_gradients_free(&c->gradients, c->mail);
    return mst_ps_gradients_make(&c->gradients, &c->values.copies, c->program.num_leaves);
}

mst_status mst_ps_client_join(mst_ps_client *c, const mst_ps_program *program, int64_t *position) {
    MST_TRY(copy_program(c, program));
    c->must_join = c->has_last = false;
    if (!c->values.copies.copy) MST_TRY(mst_ps_values_make(&c->values, program, c->num_ps));
    MST_TRY(make_gradients(c));
    MST_TRY(agree(c));
    *position = smallest_position(c);
    c->is_between = program->synchronous && !is_one_position(c);
    if (c->is_between) MST_TRY(join_between(c, *position));
    c->joined = true;
    MST_TRY(store_values(c));
    if (is_chief(c)) MST_TRY(begin_counting(c));
    return is_chief(c) && !c->kept ? mst_ps_client_collect(c) : MST_OK;
}

bool mst_ps_client_is_between(const mst_ps_client *c) {
    return c->is_between;
}

bool mst_ps_client_must_join(const mst_ps_client *c) {
    return c->must_join;
}

/* ---- steps ---- */

enum { KEPT_APART = 60 /* seconds */ };

/* The chief keeps the state of the servers from time to time, also where nothing is saved. */
static mst_status keep_if_due(mst_ps_client *c) {
    const bool is_due = c->kept_at == 0 || mst_clock_now() - c->kept_at > KEPT_APART * INT64_C(1000000000);
    return is_chief(c) && is_due ? mst_ps_client_collect(c) : MST_OK;
}

/* All servers have the gradients of this worker, so that nobody waits for these, and now give it their values. */
static mst_status ask_in_turn(mst_ps_client *c) {
    mst_status status = MST_OK;
    for (int32_t p = 0; p < c->num_ps && !status; p++)
        status = ask(c, &(request){.head = {.kind = MST_PARCEL_WANT, .round = c->round, .number = 1},
                                   .answer = MST_PARCEL_VALUES,
                                   .in_turn = true,
                                   .turn = p});
    return status;
}

static mst_status collect_state(mst_ps_client *c, const request *how);

bool mst_ps_client_is_leaving(const mst_ps_client *c) {
    return is_chief(c) && is_one_leaving(c);
}

/* The chief keeps the state of all servers, behind which they make no more updates, and tells those that leave so. All
 * workers go on from there when these have come back. */
static mst_status let_leave(mst_ps_client *c) {
    const mst_parcel_head head = {.kind = MST_PARCEL_LEAVING};
    MST_TRY(collect_state(c, &(request){.head = {.number = 1}}));
    for (int32_t p = 0; p < c->num_ps; p++)
        if (c->server[p].leaves) MST_TRY(mst_mail_send(c->mail, c->server[p].task, &head, NULL, 0, NULL));
    c->must_join = true;
    return MST_FAIL(MST_UNAVAILABLE, "a parameter server has left");
}

mst_status mst_ps_client_place_gradients(mst_ps_client *c, mst_tensor **gradient) {
    return mst_ps_gradients_place(&c->gradients, c->mail, gradient);
}

mst_status mst_ps_client_update(mst_ps_client *c, int64_t position, mst_tensor *const *gradient, int64_t *step) {
    if (mst_ps_client_is_leaving(c) && !c->is_between) return let_leave(c);
    MST_TRY(mst_ps_gradients_list(&c->gradients, gradient));
    const request r = {.head = {.kind = MST_PARCEL_GRADIENTS, .round = c->round, .number = position},
                       .answer = gives_in_turn(c) ? MST_PARCEL_TAKEN : MST_PARCEL_VALUES,
                       .gradients = &c->gradients};
    mst_status status = ask(c, &r);
    if (!status && gives_in_turn(c)) status = ask_in_turn(c);
    if (!status) status = store_values(c);
    if (!status) c->is_between = false;
    *step = c->server[0].step;
    return status ? status : keep_if_due(c);
}

static bool is_one_step(const mst_ps_client *c) {
    bool same = true;
    for (int32_t p = 1; p < c->num_ps; p++) same &= c->server[p].step == c->server[0].step;
    return same;
}

static mst_status collect_state(mst_ps_client *c, const request *how) {
    request r = *how;
    r.head.kind = MST_PARCEL_COLLECT, r.answer = MST_PARCEL_STATE;
    if (!c->program.synchronous) MST_TRY(mst_ps_values_save(&c->values, c->program.store));
    MST_TRY(mst_snapshot_create(&c->joined_state));
    mst_status status = ask(c, &r);
    if (!status && (unanswered(c) < c->num_ps || (r.at_end && c->program.synchronous && !is_one_step(c))))
        status = MST_FAIL(MST_UNAVAILABLE, "the parameter servers have no whole state");
    if (!status) status = mst_store_restore(c->program.store, c->joined_state);
    mst_snapshot_release(c->joined_state);
    c->joined_state = NULL;
    MST_TRY(status);
    mst_tensor *const step = c->values.step;
    mst_tensor_set(step, 0, (double)c->server[0].step); /* asynchronous servers are at different steps */
    MST_TRY(mst_store_set(c->program.store, NULL, MST_STATE_GLOBAL_STEP, MST_STATE_STEP, step));
    return keep_state_of_servers(c);
}

mst_status mst_ps_client_collect(mst_ps_client *c) {
    return c->has_last && is_chief(c) ? MST_OK /* the store has it */ : collect_state(c, &(request){.at_end = false});
}

/* What the gradients of a step make that are on their way is soon there. */
mst_status mst_ps_client_collect_last(mst_ps_client *c) {
    const request r = {.at_end = true, .until = mst_clock_after(c->options.timeout)};
    const int tries = c->failed ? 1 : 20;
    mst_status status = c->has_last ? MST_OK : MST_UNAVAILABLE;
    int64_t step = 0;
    for (int i = 0; i < tries && status && !is_one_lost(c) && mst_clock_now() < r.until; i++)
        status = collect_state(c, &r);
    if (!status || !c->kept) return status;
    MST_TRY(mst_store_restore(c->program.store, c->kept));
    MST_TRY(mst_store_read_to(c->program.store, NULL, MST_STATE_GLOBAL_STEP, &(mst_spec){MST_I64, MST_SCALAR}, &step));
    say(c, "the servers have no whole state any more: the last that the chief has is that of step %lld",
        (long long)step);
    return MST_OK;
}

bool mst_ps_client_is_left(const mst_ps_client *c) {
    return is_chief(c) && c->is_left;
}

bool mst_ps_client_was_stopped(const mst_ps_client *c) {
    return c->stopped;
}

mst_status mst_ps_client_use_values(mst_ps_client *c) {
    return c->values.are_saved ? store_values(c) : MST_OK;
}

mst_status mst_ps_client_staleness(mst_ps_client *c, int64_t count[MST_STALENESS_COUNTS]) {
    MST_TRY(ask_staleness(c));
    for (int i = 0; i < MST_STALENESS_COUNTS; i++) count[i] = c->staleness[i] - c->counted[i];
    memcpy(c->counted, c->staleness, sizeof c->counted);
    return MST_OK;
}

mst_status mst_ps_client_rate(mst_ps_client *c, const float *rate, float *out) {
    mst_iov *body = calloc((size_t)c->num_ps, sizeof *body);
    if (!body) return MST_NO_MEMORY("for %d parameter servers", c->num_ps);
    for (int32_t p = 0; p < c->num_ps && rate; p++) body[p] = (mst_iov){rate, sizeof *rate};
    const request r = {.head = {.kind = MST_PARCEL_RATE}, .answer = MST_PARCEL_RATE, .body = body};
    const mst_status status = ask(c, &r);
    free(body);
    if (!status) *out = c->rate;
    return status;
}

mst_status mst_ps_client_fail(mst_ps_client *c, mst_status status) {
    mst_failure failure;
    if (c->failed || status == MST_CANCELLED) return status;
    if (!c->round) mst_mail_linger(c->mail, LINGER);
    mst_failure_keep(&failure, status);
    const mst_parcel_head head = {.kind = MST_PARCEL_FAILED};
    const mst_iov text = {failure.message, strlen(failure.message)};
    for (int32_t p = 0; p < c->num_ps; p++)
        if (mst_mail_send(c->mail, c->server[p].task, &head, &text, 1, NULL)) break;
    c->failed = true;
    return mst_failure_restore(&failure);
}

mst_status mst_ps_client_finish(mst_ps_client *c) {
    request r = {.head = {.kind = MST_PARCEL_FINISHED, .number = c->finished + 1}, .answer = MST_PARCEL_FINISHED};
    for (;;) {
        r.until = is_chief(c) ? mst_clock_after(KEPT_APART) : 0;
        MST_TRY(ask(c, &r));
        if (unanswered(c) == c->num_ps) break;
        if (is_one_leaving(c)) return let_leave(c);
        MST_TRY(mst_ps_client_collect(c)); /* others make steps still */
    }
    if (is_chief(c)) { /* the others wait until no step can be lost any more */
        MST_TRY(mst_ps_client_collect(c));
        r.head.step = 1;
        r.until = 0;
        MST_TRY(ask(c, &r));
    }
    c->finished++;
    c->has_last = true;
    return store_values(c);
}

/* A server that was started again gets the last state from the chief, where a worker waits for it. Who is stopped while
 * he waits for the others to leave has done all his work: started again he might find no servers any more. */
static mst_status leave_when_all_have_values(mst_ps_client *c) {
    const request r = {.head = {.kind = MST_PARCEL_LEAVE, .number = c->has_last ? c->finished : 0},
                       .answer = MST_PARCEL_DONE,
                       .is_last = c->has_last};
    for (int32_t p = 0; p < c->num_ps; p++) c->server[p].was_lost = c->server[p].lost; /* before this does not count */
    for (;;) {
        const mst_status status = ask(c, &r);
        if (status == MST_CANCELLED && c->has_last && !is_one_lost(c)) return MST_OK;
        if (!status || !c->must_join || !c->has_last) return status;
        c->must_join = false;
        MST_TRY(agree(c));
    }
}

mst_status mst_ps_client_leave(mst_ps_client *c) {
    if (!c->joined) return MST_OK;
    c->joined = false;
    mst_status status = leave_when_all_have_values(c);
    if (!status) return store_values(c);
    if (!c->must_join) return status;
    mst_failure lost; /* nobody makes the steps again that the server has lost */
    mst_failure_keep(&lost, status);
    status = MST_FAIL(lost.code,
                      "%s when this worker had made its last step: start the job again, which goes on from the "
                      "last checkpoint where it has --checkpoint-dir",
                      lost.message);
    return mst_ps_client_fail(c, status);
}
