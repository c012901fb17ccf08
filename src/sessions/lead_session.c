/* The requests of clients, stage by stage (lead.h). */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "sessions/lead_inside.h"

static const double GRACE = 5; /* extra seconds for a task to report that it has taken too long */

/* ---- awaited answers ---- */

void mst_lead_begin_stage(mst_lead_session *s, mst_lead_stage stage) {
    s->stage = stage;
    s->ticket = ++s->lead->last_ticket;
    s->num_awaited = 0;
    memset(s->awaits, 0, (size_t)s->lead->num_tasks * sizeof *s->awaits);
}

void mst_lead_await(mst_lead_session *s, int32_t task) {
    s->awaits[task] = true;
    s->num_awaited++;
}

bool mst_lead_has_answered(mst_lead_session *s, int32_t task) {
    if (!s->awaits[task]) return false;
    s->awaits[task] = false;
    return --s->num_awaited == 0;
}

void mst_lead_keep_failure(mst_lead_session *s, const mst_failure *failure) {
    if (!s->failure.code || (s->failure.derived && !failure->derived)) s->failure = *failure;
}

void mst_lead_keep_error(mst_lead_session *s, mst_status status) {
    mst_failure failure;
    mst_failure_keep(&failure, status);
    mst_lead_keep_failure(s, &failure);
}

/* ---- parts ---- */

static void close_parts(mst_lead_session *s) {
    for (int32_t i = 0; i < s->lead->num_tasks; i++) mst_lead_send(s->lead, i, MST_PART_CLOSE, s->id, 0, NULL, NULL, 0);
    for (mst_lead_plan *plan = s->plans; plan; plan = plan->next) plan->is_made = false;
    s->is_open = s->is_broken = false;
}

static void begin_opening(mst_lead_session *s) {
    mst_lead *lead = s->lead;
    mst_wire_writer w = {0};
    mst_lead_begin_stage(s, MST_LEAD_OPENS);
    mst_wire_put_number(&w, s->ticket);
    mst_open_message_put(&w, &s->open);
    for (int32_t i = 0; i < lead->num_tasks; i++) mst_task_devices_put(&w, &lead->task[i].devices);
    for (int32_t i = 0; i < lead->num_tasks; i++) {
        mst_lead_await(s, i);
        mst_lead_send(lead, i, MST_PART_OPEN, s->id, 0, &w, NULL, 0);
    }
    mst_wire_free(&w);
}

/* Whether the parts of session S must be opened. For that all tasks must be there: a new session waits for them. */
static bool opens_parts(mst_lead_session *s) {
    char missing[500];
    if (mst_lead_has_all(s->lead)) {
        begin_opening(s);
        return true;
    }
    if (s->request->head.kind == MST_SESSION_OPEN) {
        mst_lead_begin_stage(s, MST_LEAD_WAITS_FOR_TASKS);
        return true;
    }
    mst_lead_keep_error(
        s, MST_FAIL(MST_UNAVAILABLE, "%s is not there: start it", mst_lead_missing(s->lead, missing, sizeof missing)));
    return false;
}

/* ---- the answer ---- */

/* The names of all devices but the CPUs that were added beside listed accelerators, for mst_session_device. They come
 * task by task in the session's order, which begins with the client's task. */
static void put_devices(const mst_lead_session *s, mst_wire_writer *w) {
    int64_t count = 0;
    for (int32_t i = 0; i < s->lead->num_tasks; i++) {
        const mst_task_devices *devices = &s->lead->task[i].devices;
        for (int32_t d = 0; d < devices->count; d++) count += !devices->device[d].added;
    }
    mst_wire_put_number(w, (uint64_t)count);
    for (int32_t i = 0; i < s->lead->num_tasks; i++) {
        const mst_task_devices *devices = &s->lead->task[mst_session_task_at(s->open.first, i)].devices;
        for (int32_t d = 0; d < devices->count; d++)
            if (!devices->device[d].added) mst_wire_put_text(w, devices->device[d].name);
    }
}

static void end_request(mst_lead_session *s) {
    mst_lead_run_end(s);
    mst_task_message_free(s->request);
    free(s->has);
    s->request = NULL;
    s->has = NULL;
    s->plan = NULL;
    s->stage = MST_LEAD_IDLE;
    s->failure.code = MST_OK;
}

static void answer_client(mst_lead_session *s) {
    mst_wire_writer w = {0};
    const int32_t kind = s->request->head.kind;
    const bool failed = s->failure.code != MST_OK, is_new = kind == MST_SESSION_OPEN;
    const mst_task_message_head head = {.kind = MST_SESSION_ANSWER,
                                        .number = (int64_t)s->id,
                                        .step = s->plan ? (int64_t)s->plan->number : 0,
                                        .request = s->request->head.request};
    mst_wire_put_failure(&w, &s->failure);
    if (kind == MST_SESSION_RUN) mst_lead_run_put(s, &w);
    if (!failed && is_new) put_devices(s, &w);
    if (!failed && kind == MST_SESSION_PLAN) mst_lead_plan_put(s, s->plan, &w);
    if (!failed && kind == MST_SESSION_STATE) mst_wire_put_bytes(&w, s->has, s->num_entries);
    mst_service_send(s->lead->server, s->client, &head, &w);
    const uint64_t useless = failed && kind == MST_SESSION_PLAN && s->plan ? s->plan->number : 0;
    end_request(s);
    if (useless) mst_lead_plan_forget(s, useless);
    if (s->is_broken) close_parts(s);
    if (failed && is_new) mst_lead_session_end(s);
}

/* ---- from stage to stage ---- */

static void begin_states(mst_lead_session *s) {
    mst_wire_writer w = {0};
    mst_lead_begin_stage(s, MST_LEAD_STATES);
    mst_wire_put_number(&w, s->ticket);
    for (int32_t i = 0; i < s->lead->num_tasks; i++) {
        mst_lead_await(s, i);
        mst_lead_send(s->lead, i, MST_PART_STATE, s->id, 0, &w, s->request->body, s->request->bytes);
    }
    mst_wire_free(&w);
}

void mst_lead_go_on(mst_lead_session *s) {
    const int32_t kind = s->request->head.kind;
    const mst_lead_stage was = s->stage;
    /* also after a failure: some tasks may have opened their parts, which must be closed */
    if (was == MST_LEAD_OPENS) s->is_open = true;
    if (was == MST_LEAD_OPENS && s->failure.code) s->is_broken = true;
    if (was == MST_LEAD_PLANS) s->plan->is_made = !s->failure.code;
    if (!s->failure.code && !s->is_open && opens_parts(s)) return;
    const bool needs_plan = kind == MST_SESSION_PLAN || kind == MST_SESSION_RUN;
    if (!s->failure.code && needs_plan && !s->plan->is_made) {
        mst_lead_plan_begin(s);
        return;
    }
    if (!s->failure.code && kind == MST_SESSION_RUN && was != MST_LEAD_RUNS) {
        mst_lead_run_begin(s);
        if (s->num_awaited) return;
    }
    if (!s->failure.code && kind == MST_SESSION_STATE && was != MST_LEAD_STATES) {
        begin_states(s);
        return;
    }
    answer_client(s);
}

void mst_lead_stop_waiting(mst_lead_session *s) {
    s->num_awaited = 0;
    memset(s->awaits, 0, (size_t)s->lead->num_tasks * sizeof *s->awaits);
    s->ticket = 0; /* no ticket: answers that still come are not taken */
    mst_lead_go_on(s);
}

static mst_status take_states(mst_lead_session *s, mst_wire_reader *r) {
    size_t count;
    const unsigned char *has = mst_wire_get_bytes(r, &count);
    MST_TRY(mst_wire_check_read(r, "a task"));
    if (!s->has) {
        s->has = calloc(count + 1, 1);
        s->num_entries = count;
    }
    if (!s->has) return MST_NO_MEMORY("for the variables of a session");
    for (size_t i = 0; i < count && i < s->num_entries; i++) s->has[i] |= has[i] != 0;
    return MST_OK;
}

void mst_lead_take_answer(mst_lead *lead, const mst_task_message *message) {
    mst_lead_session *s = mst_lead_find_session(lead, message->head.number);
    mst_wire_reader r = {.at = message->body, .left = message->bytes};
    mst_failure failure;
    if (!s || message->from >= lead->num_tasks || message->head.request != s->ticket || !s->awaits[message->from])
        return;
    mst_status status = MST_OK;
    mst_wire_get_failure(&r, &failure);
    if (failure.code)
        mst_lead_keep_failure(s, &failure);
    else if (s->stage == MST_LEAD_PLANS)
        status = mst_lead_plan_take(s, message->from, &r);
    else if (s->stage == MST_LEAD_STATES)
        status = take_states(s, &r);
    else
        status = mst_wire_check_read(&r, "a task");
    if (status) mst_lead_keep_error(s, status);
    if (mst_lead_has_answered(s, message->from)) mst_lead_go_on(s);
}

/* ---- requests ---- */

mst_lead_session *mst_lead_find_session(mst_lead *lead, int64_t id) {
    for (mst_lead_session *s = lead->sessions; s; s = s->next)
        if (s->id == (uint64_t)id) return s;
    return NULL;
}

static void refuse_client(mst_lead *lead, const mst_task_message *message, mst_status status) {
    mst_wire_writer w = {0};
    mst_failure failure;
    mst_failure_keep(&failure, status);
    mst_wire_put_failure(&w, &failure);
    if (message->head.kind == MST_SESSION_RUN) {
        /* the results of a run that did not happen, laid out as by mst_lead_run_put: whether it was overtaken, the runs
         * counted, the number of fetches */
        mst_wire_put_number(&w, 0);
        mst_wire_put_number(&w, 0);
        mst_wire_put_number(&w, 0);
    }
    const mst_task_message_head head = {.kind = MST_SESSION_ANSWER, .request = message->head.request};
    mst_service_send(lead->server, message->from, &head, &w);
}

/* Makes a session as MESSAGE, a request OPEN, asks. After success MESSAGE belongs to the session. */
static mst_status make_session(mst_lead *lead, mst_task_message *message, mst_lead_session **out) {
    mst_wire_reader r = {.at = message->body, .left = message->bytes};
    mst_open_message open;
    mst_open_message_get(&r, lead->num_tasks, &open);
    MST_TRY(mst_wire_check_read(&r, "the client"));
    mst_lead_session *s = calloc(1, sizeof *s);
    bool *awaits = calloc((size_t)lead->num_tasks, sizeof *awaits), *voted = calloc((size_t)lead->num_tasks, 1);
    if (!s || !awaits || !voted) {
        free(s);
        free(awaits);
        free(voted);
        return MST_NO_MEMORY("for a session");
    }
    *s = (mst_lead_session){.next = lead->sessions,
                            .lead = lead,
                            .id = ++lead->last_session,
                            .client = message->from,
                            .open = open,
                            .opening = message,
                            .runs = open.runs,
                            .awaits = awaits,
                            .run.voted = voted};
    lead->sessions = s;
    *out = s;
    return MST_OK;
}

/* Copies MESSAGE without its body. The copy is the request if MESSAGE itself is kept elsewhere in the session. */
static mst_task_message *copy_head(const mst_task_message *message) {
    mst_task_message *copy = calloc(1, sizeof *copy);
    if (copy) *copy = (mst_task_message){.head = message->head, .from = message->from};
    return copy;
}

static mst_status begin_request(mst_lead_session *s, mst_task_message *message) {
    mst_wire_reader r = {.at = message->body, .left = message->bytes};
    s->deadline = mst_clock_after(s->open.timeout + GRACE);
    s->plan = NULL;
    if (message->head.kind == MST_SESSION_PLAN) return mst_lead_plan_create(s, message, &s->plan);
    if (message->head.kind != MST_SESSION_RUN) return MST_OK;
    s->plan = mst_lead_plan_find(s, mst_wire_get_number(&r));
    return s->plan ? MST_OK : MST_FAIL(MST_INTERNAL, "the client has asked for a run without a plan");
}

static void take_new(mst_lead *lead, mst_task_message *message) {
    mst_lead_session *s;
    mst_task_message *request = copy_head(message);
    const mst_status status = request ? make_session(lead, message, &s) : MST_NO_MEMORY("for a session");
    if (status) {
        refuse_client(lead, message, status);
        mst_task_message_free(request);
        mst_task_message_free(message);
        return;
    }
    s->request = request;
    s->deadline = mst_clock_after(s->open.timeout);
    mst_lead_go_on(s);
}

void mst_lead_take_request(mst_lead *lead, mst_task_message *message) {
    const int32_t kind = message->head.kind;
    mst_lead_session *s = mst_lead_find_session(lead, message->head.number);
    if (message->from < lead->num_tasks) { /* only clients may send requests */
        mst_task_message_free(message);
        return;
    }
    if (kind == MST_SESSION_OPEN) {
        take_new(lead, message);
        return;
    }
    if (s && s->client != message->from) s = NULL;
    const bool quiet = kind == MST_SESSION_FORGET || kind == MST_SESSION_CLOSE; /* no answer is sent */
    mst_status status = MST_OK;
    if (quiet && s && kind == MST_SESSION_CLOSE)
        mst_lead_session_end(s);
    else if (quiet && s && s->stage == MST_LEAD_IDLE)
        mst_lead_plan_forget(s, (uint64_t)message->head.step);
    else if (!quiet && !s)
        status = MST_FAIL(MST_UNAVAILABLE, "the leader has been started again, and does not know the session");
    else if (!quiet && s->request)
        status = MST_FAIL(MST_INTERNAL, "the client has asked for two things at once");
    else if (!quiet)
        status = begin_request(s, message);
    if (status) refuse_client(lead, message, status);
    if (status || quiet) {
        mst_task_message_free(message);
        return;
    }
    s->request = message;
    mst_lead_go_on(s);
}

/* ---- ends ---- */

void mst_lead_session_lose(mst_lead_session *s, int32_t task, const mst_failure *failure) {
    if (!s->is_open && s->stage != MST_LEAD_OPENS) return;
    s->is_broken = true;
    if (s->stage == MST_LEAD_IDLE) { /* an idle session closes its parts at once; otherwise its request fails first */
        close_parts(s);
    } else {
        mst_lead_keep_failure(s, failure);
        if (s->stage == MST_LEAD_RUNS) mst_lead_run_refuse(s);
        if (mst_lead_has_answered(s, task)) mst_lead_go_on(s);
    }
}

void mst_lead_session_end(mst_lead_session *s) {
    mst_lead *lead = s->lead;
    mst_lead_session **at = &lead->sessions;
    while (*at != s) at = &(*at)->next;
    *at = s->next;
    if (s->is_open || s->stage == MST_LEAD_OPENS) close_parts(s);
    end_request(s);
    while (s->plans) {
        mst_lead_plan *plan = s->plans;
        s->plans = plan->next;
        mst_lead_plan_free(plan);
    }
    mst_task_message_free(s->opening);
    free(s->awaits);
    free(s->run.voted);
    free(s);
    mst_lead_end_job(lead); /* only if the job is over now */
}

/* The error of a request that has taken too long. It names the tasks that have not answered. */
static mst_status too_long(const mst_lead_session *s) {
    char name[500];
    const mst_lead *lead = s->lead;
    if (s->stage == MST_LEAD_WAITS_FOR_TASKS)
        return MST_FAIL(MST_UNAVAILABLE, "waited %g s for %s: start it, or see whether its address is right",
                        s->open.timeout, mst_lead_missing(lead, name, sizeof name));
    int32_t task = 0;
    while (task < lead->num_tasks - 1 && !s->awaits[task]) task++;
    return MST_FAIL(MST_DEADLINE, "task %s has not answered for %g s: see what it does, or raise the timeout",
                    mst_service_name(lead->server, task, name, sizeof name), s->open.timeout);
}

int64_t mst_lead_session_work(mst_lead_session *s, int64_t now) {
    if (s->stage == MST_LEAD_IDLE) return MST_NEVER;
    if (now < s->deadline) return s->deadline;
    s->is_broken = s->is_open || s->stage == MST_LEAD_OPENS;
    mst_lead_keep_error(s, too_long(s));
    if (s->stage == MST_LEAD_RUNS) mst_lead_run_refuse(s);
    mst_lead_stop_waiting(s); /* S may be freed in this call */
    return MST_NEVER;
}
