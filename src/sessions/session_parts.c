/* Each part of a session has a thread, which opens the part, makes its plans and waits until its runs end. Runs begin
 * on the thread of the task server instead, in the order in which the leader sends them.
 *
 *     leader's message --> task server's thread --+--> RUN, DECIDE: at once
 *                                                 +--> all others: queue --> the part's thread --> answer */
#include "sessions/session_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "base/thread.h"
#include "run/part.h"
#include "sessions/part_plans.h"
#include "sessions/part_states.h"

/* A run under way. */
typedef struct part_run {
    bool is_on;
    uint64_t number, ticket;
    struct mst_cached_plan *plan;
    int32_t num_feeds, num_outputs;
    mst_tensor **feed, **output;
} part_run;

typedef struct session_part {
    struct session_part *next;
    mst_task_server *server;
    mst_session_parts *owner;
    uint64_t id;
    mst_open_message open; /* `graph` and `plan_pass` in it are valid only during opening */
    mst_graph *graph;
    mst_session *_Atomic session; /* NULL: not open yet, or it could not be opened */
    mst_session_part_plans plans;
    pthread_t thread;
    pthread_mutex_t lock;            /* guards all members after it */
    pthread_cond_t changed;          /* the thread has something to do */
    mst_task_message *first, **last; /* the queue of requests, and where the next one is put */
    bool finishes;                   /* a run was submitted: the part's thread must wait until it ends */
    bool closing;
    part_run run; /* used by the server's thread, and while `finishes` by the part's thread */
} session_part;

struct mst_session_parts {
    mst_task_server *server;
    session_part *first;
    pthread_mutex_t lock;
    pthread_cond_t ended; /* a part's thread is about to end */
    int count;            /* number of threads of parts */
};

/* ---- messages to others ---- */

static void answer_leader(session_part *p, uint64_t ticket, mst_wire_writer *w) {
    const mst_task_message_head head = {.kind = MST_PART_ANSWER, .number = (int64_t)p->id, .request = ticket};
    mst_service_send(p->server, MST_REMOTE_LEADER, &head, w);
}

/* Writes STATUS and the calling thread's error. */
static void put_status(mst_wire_writer *w, mst_status status, bool derived) {
    mst_failure failure;
    mst_failure_keep(&failure, status);
    failure.derived = derived;
    mst_wire_put_failure(w, &failure);
}

static mst_status part_send(void *context, int32_t to, uint64_t run, int32_t stream, const struct iovec *pieces,
                            int count) {
    enum { SOME = 16 };
    session_part *p = context;
    mst_iov some[SOME], *piece = count <= SOME ? some : malloc((size_t)count * sizeof *piece);
    if (!piece) return MST_NO_MEMORY("for a message of %d pieces", count);
    for (int i = 0; i < count; i++) piece[i] = (mst_iov){pieces[i].iov_base, pieces[i].iov_len};
    const mst_task_message_head head = {
        .kind = MST_PART_VALUE, .number = (int64_t)p->id, .step = (int64_t)run, .request = (uint64_t)(uint32_t)stream};
    const int32_t task = mst_session_task_at(p->open.first, to);
    const mst_status status = mst_mail_send(p->server->mail, task, &head, piece, count, NULL);
    if (piece != some) free(piece);
    return status;
}

static void part_vote(void *context, uint64_t run) {
    session_part *p = context;
    const mst_task_message_head head = {.kind = MST_PART_VOTE, .number = (int64_t)p->id, .step = (int64_t)run};
    mst_service_send(p->server, MST_REMOTE_LEADER, &head, NULL);
}

/* ---- opening ---- */

static mst_status make_session(session_part *p, mst_wire_reader *r) {
    mst_task_server *server = p->server;
    const mst_task_info self = mst_cluster_task(server->cluster, server->self);
    const int32_t n = server->num_tasks;
    mst_task_devices *task = calloc((size_t)n, sizeof *task);
    if (!task) return MST_NO_MEMORY("for a session");
    mst_open_message_get(r, n, &p->open);
    for (int32_t i = 0; i < n; i++) mst_task_devices_get(r, &task[mst_session_place_of(p->open.first, i)]);
    mst_status status = mst_wire_check_read(r, "the leader");
    if (!status) status = mst_session_part_plans_init(&p->plans, p->open.logs, p->open.plans);
    if (!status)
        status = p->open.graph_bytes ? mst_graph_decode(p->open.graph, p->open.graph_bytes, &p->graph)
                                     : mst_graph_create(&p->graph);
    const mst_session_options options = {
        .devices = server->device_spec,
        .visible_devices = server->visible_devices,
        .allow_soft_placement = p->open.soft_placement,
        .placement_log = p->plans.placements.file,
        .plan_log = p->plans.made.file,
        .plan_pass = p->plans.made.file && *p->open.plan_pass ? p->open.plan_pass : NULL,
        .memory_limit = p->open.memory_limit ? p->open.memory_limit : server->memory_limit,
        .check_numerics = p->open.check_numerics,
        .timeout = p->open.timeout,
        .store = server->store,
        .job_name = self.job,
        .task_index = self.index};
    const mst_session_part_options part = {.num_tasks = n,
                                           .self = mst_session_place_of(p->open.first, server->self),
                                           .task = task,
                                           .host = {.context = p, .send = part_send, .vote = part_vote}};
    mst_session *session = NULL;
    if (!status) status = mst_session_create_part(p->graph, &options, &part, &session);
    p->session = session;
    for (int32_t i = 0; i < n; i++) free((void *)(uintptr_t)task[i].device);
    free(task);
    p->open.graph = NULL;
    p->open.plan_pass = NULL;
    return status;
}

/* ---- the part's thread ---- */

static void end_run(session_part *p) {
    part_run *run = &p->run;
    mst_tensors_free(run->feed, run->num_feeds);
    mst_tensors_free(run->output, run->num_outputs);
    *run = (part_run){0};
}

/* Tells the leader that the run has ended, and whether it was successful. */
static void tell_done(session_part *p, mst_status status, bool derived, bool overtaken) {
    const part_run *run = &p->run;
    mst_wire_writer w = {0};
    put_status(&w, status, derived);
    mst_wire_put_number(&w, overtaken);
    mst_wire_put_number(&w, status ? 0 : (uint64_t)run->num_outputs);
    for (int32_t i = 0; i < run->num_outputs && !status; i++) mst_wire_put_optional(&w, run->output[i]);
    const mst_task_message_head head = {
        .kind = MST_PART_DONE, .number = (int64_t)p->id, .step = (int64_t)run->number, .request = run->ticket};
    mst_service_send(p->server, MST_REMOTE_LEADER, &head, &w);
}

static void finish_run(session_part *p) {
    bool derived = false, overtaken = false;
    const mst_status status = mst_session_part_finish(p->session, &derived, &overtaken);
    if (!status) mst_task_status_step(&p->server->status, (int64_t)p->run.number, 0);
    /* the run is cleared before the leader is told of its end: after that the leader may send the next one */
    part_run *run = &p->run;
    const part_run ended = *run;
    pthread_mutex_lock(&p->lock);
    p->finishes = false;
    *run = (part_run){0};
    pthread_mutex_unlock(&p->lock);
    session_part copy = {.server = p->server, .id = p->id, .run = ended};
    tell_done(&copy, status, derived, overtaken);
    end_run(&copy);
}

static void do_request(session_part *p, const mst_task_message *message) {
    mst_wire_reader r = {.at = message->body, .left = message->bytes};
    const uint64_t ticket = mst_wire_get_number(&r);
    mst_wire_writer payload = {0}, w = {0};
    mst_status status = MST_OK;
    if (message->head.kind == MST_PART_OPEN)
        status = make_session(p, &r);
    else if (!p->session)
        status = MST_FAIL(MST_INTERNAL, "a session is used that is not open");
    else if (message->head.kind == MST_PART_PLAN)
        status = mst_session_part_plans_make(&p->plans, p->session, p->graph, (uint64_t)message->head.step,
                                             p->server->num_tasks, &r, &payload);
    else
        status = mst_session_part_states_take(p->server, p->open.timeout, &r, &payload);
    put_status(&w, status, false);
    if (!status) mst_wire_append(&w, &payload);
    mst_wire_free(&payload);
    answer_leader(p, ticket, &w);
}

static void free_part(session_part *p) {
    while (p->first) {
        mst_task_message *message = p->first;
        p->first = message->next;
        mst_task_message_free(message);
    }
    mst_session_part_plans_free(&p->plans, p->session);
    mst_session_destroy(p->session);
    mst_graph_destroy(p->graph);
    mst_session_part_plans_close_logs(&p->plans);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->changed);
    free(p);
}

static void *run_part(void *context) {
    session_part *p = context;
    mst_session_parts *owner = p->owner;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->first && !p->finishes && !p->closing) pthread_cond_wait(&p->changed, &p->lock);
        mst_task_message *message = p->finishes || p->closing ? NULL : p->first;
        const bool finishes = p->finishes;
        if (!message && !finishes) break;
        if (message && !(p->first = message->next)) p->last = &p->first;
        pthread_mutex_unlock(&p->lock);
        if (finishes)
            finish_run(p);
        else if (message->head.kind == MST_PART_FORGET)
            mst_session_part_plans_forget(&p->plans, p->session, (uint64_t)message->head.step);
        else
            do_request(p, message);
        mst_task_message_free(message);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    free_part(p);
    pthread_mutex_lock(&owner->lock);
    owner->count--;
    pthread_cond_broadcast(&owner->ended);
    pthread_mutex_unlock(&owner->lock);
    return NULL;
}

/* ---- the task server's thread ---- */

static void enqueue_request(session_part *p, mst_task_message *message) {
    pthread_mutex_lock(&p->lock);
    message->next = NULL;
    *p->last = message;
    p->last = &message->next;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static mst_status start_part(mst_session_parts *parts, uint64_t id) {
    session_part *p = calloc(1, sizeof *p);
    if (!p) return MST_NO_MEMORY("for a session");
    *p = (session_part){.server = parts->server, .owner = parts, .id = id, .last = &p->first};
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    pthread_mutex_lock(&parts->lock);
    parts->count++;
    pthread_mutex_unlock(&parts->lock);
    if (mst_thread_start(&p->thread, run_part, p)) {
        pthread_mutex_lock(&parts->lock);
        parts->count--;
        pthread_mutex_unlock(&parts->lock);
        free_part(p);
        return MST_FAIL(MST_OUT_OF_MEMORY, "cannot start a thread for a session");
    }
    pthread_detach(p->thread);
    p->next = parts->first;
    parts->first = p;
    return MST_OK;
}

static session_part **find_part(mst_session_parts *parts, int64_t id) {
    session_part **at = &parts->first;
    while (*at && (*at)->id != (uint64_t)id) at = &(*at)->next;
    return at;
}

/* Delivers the decision on RUN. FAILURE NULL: it happens; else FAILURE says why it does not. Does nothing if RUN is not
 * under way here, or if it is decided. */
static void decide(session_part *p, uint64_t run, const mst_failure *failure) {
    if (p->session) mst_session_part_decide(p->session, run, failure);
}

static void close_part(session_part **at, const char *why) {
    session_part *p = *at;
    mst_failure failure;
    *at = p->next;
    mst_failure_keep(&failure, MST_FAIL(MST_UNAVAILABLE, "the session has been closed: %s", why));
    pthread_mutex_lock(&p->lock);
    const uint64_t run = p->run.is_on ? p->run.number : 0;
    pthread_mutex_unlock(&p->lock);
    if (run) decide(p, run, &failure);
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static mst_status begin_run(session_part *p, mst_wire_reader *r, mst_session_part_run *run) {
    const uint64_t plan = mst_wire_get_number(r);
    run->seconds = mst_wire_get_real(r);
    run->random = (int64_t)mst_wire_get_number(r);
    run->initial = mst_wire_get_within(r, 0, 1);
    p->run.feed = mst_tensors_get(r, &p->run.num_feeds);
    MST_TRY(mst_wire_check_read(r, "the leader"));
    MST_TRY(mst_session_part_plans_find(&p->plans, plan, p->run.num_feeds, &p->run.plan, &p->run.num_outputs));
    p->run.output = calloc((size_t)p->run.num_outputs + 1, sizeof *p->run.output);
    if (!p->run.output) return MST_NO_MEMORY("for a run");
    run->feed = p->run.feed;
    run->output = p->run.output;
    if (!(run->seconds > 0)) return MST_FAIL(MST_CORRUPT, "what the leader has sent is damaged");
    return mst_session_part_submit(p->session, p->run.plan, run);
}

static void take_run(session_part *p, const mst_task_message *message) {
    mst_wire_reader r = {.at = message->body, .left = message->bytes};
    mst_session_part_run run = {.number = (uint64_t)message->head.step};
    pthread_mutex_lock(&p->lock);
    const bool busy = p->run.is_on;
    if (!busy) p->run = (part_run){.is_on = true, .number = run.number, .ticket = mst_wire_get_number(&r)};
    pthread_mutex_unlock(&p->lock);
    if (busy) return; /* dropped: a correct leader sends no run before the end of the last one */
    const mst_status status = p->session ? begin_run(p, &r, &run) : MST_FAIL(MST_INTERNAL, "the session is not open");
    if (status) {
        tell_done(p, status, false, false);
        pthread_mutex_lock(&p->lock);
        end_run(p);
        pthread_mutex_unlock(&p->lock);
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->finishes = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static void take_decision(session_part *p, const mst_task_message *message) {
    mst_wire_reader r = {.at = message->body, .left = message->bytes};
    mst_failure failure;
    mst_wire_get_failure(&r, &failure);
    if (mst_wire_check_read(&r, "the leader")) return;
    decide(p, (uint64_t)message->head.step, failure.code ? &failure : NULL);
}

/* Refuses a request for a session that does not exist. */
static void refuse_request(mst_session_parts *parts, const mst_task_message *message, mst_status status) {
    mst_wire_reader r = {.at = message->body, .left = message->bytes};
    session_part none = {.server = parts->server, .id = (uint64_t)message->head.number};
    const uint64_t ticket = mst_wire_get_number(&r);
    mst_wire_writer w = {0};
    put_status(&w, status, false);
    answer_leader(&none, ticket, &w);
}

void mst_session_parts_take(mst_session_parts *parts, mst_task_message *message) {
    const int32_t kind = message->head.kind;
    const bool is_new = kind == MST_PART_OPEN && !*find_part(parts, message->head.number);
    const mst_status status = is_new ? start_part(parts, (uint64_t)message->head.number) : MST_OK;
    session_part **at = find_part(parts, message->head.number);
    const bool asks = kind == MST_PART_OPEN || kind == MST_PART_PLAN || kind == MST_PART_STATE;
    if (*at && (asks || kind == MST_PART_FORGET)) {
        enqueue_request(*at, message);
        return;
    }
    if (!*at && asks)
        refuse_request(parts, message, status ? status : MST_FAIL(MST_INTERNAL, "there is no such session here"));
    else if (*at && kind == MST_PART_RUN)
        take_run(*at, message);
    else if (*at && kind == MST_PART_DECIDE)
        take_decision(*at, message);
    else if (*at && kind == MST_PART_CLOSE)
        close_part(at, "its client has left, or a task was lost");
    mst_task_message_free(message);
}

void mst_session_parts_take_value(mst_session_parts *parts, const mst_task_message *message) {
    const mst_task_message_head *head = &message->head;
    session_part *p = *find_part(parts, head->number);
    if (!p || !p->session || message->from >= parts->server->num_tasks || head->request > INT32_MAX) return;
    const int32_t place = mst_session_place_of(p->open.first, message->from);
    if (mst_session_part_deliver(p->session, place, (uint64_t)head->step, (int32_t)head->request, message->body,
                                 message->bytes))
        mst_service_log(parts->server, "a value is lost: %s", mst_error()->message);
}

void mst_session_parts_drop(mst_session_parts *parts, const char *why) {
    while (parts->first) close_part(&parts->first, why);
}

mst_status mst_session_parts_create(mst_task_server *server, mst_session_parts **out) {
    mst_session_parts *parts = calloc(1, sizeof *parts);
    if (!parts) return MST_NO_MEMORY("for a task server");
    parts->server = server;
    pthread_mutex_init(&parts->lock, NULL);
    pthread_cond_init(&parts->ended, NULL);
    *out = parts;
    return MST_OK;
}

void mst_session_parts_destroy(mst_session_parts *parts) {
    if (!parts) return;
    mst_session_parts_drop(parts, "the task server has been stopped");
    pthread_mutex_lock(&parts->lock);
    while (parts->count) pthread_cond_wait(&parts->ended, &parts->lock);
    pthread_mutex_unlock(&parts->lock);
    pthread_mutex_destroy(&parts->lock);
    pthread_cond_destroy(&parts->ended);
    free(parts);
}
