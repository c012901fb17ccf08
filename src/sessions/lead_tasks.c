/* The leader's list of the cluster's tasks: tasks that connect, are lost, or join. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "sessions/lead_inside.h"

static const int64_t FIRST_COMPLAINT = 2000000000, PAUSE = 5000000000; /* nanoseconds */

bool mst_lead_has_all(const mst_lead *lead) {
    for (int32_t i = 0; i < lead->num_tasks; i++)
        if (!lead->task[i].is_there) return false;
    return true;
}

const char *mst_lead_missing(const mst_lead *lead, char *text, size_t size) {
    char name[320];
    size_t used = 0;
    int more = 0;
    text[0] = '\0';
    for (int32_t i = 0; i < lead->num_tasks; i++) {
        if (lead->task[i].is_there) continue;
        mst_service_name(lead->server, i, name, sizeof name);
        if (more || used + strlen(name) + 32 > size)
            more++;
        else
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
    }
    if (more) snprintf(text + used, size - used, " and %d more", more);
    return text;
}

void mst_lead_send(mst_lead *lead, int32_t task, int32_t kind, uint64_t session, uint64_t step,
                   const mst_wire_writer *w, const void *body, size_t bytes) {
    mst_lead_task *t = &lead->task[task];
    if (!t->is_there) return;
    const mst_task_message_head head = {
        .kind = kind, .round = t->sent, .number = (int64_t)session, .step = (int64_t)step, .request = t->hello};
    const mst_iov piece[] = {{w ? w->data : NULL, w ? w->size : 0}, {body, bytes}};
    mst_status status = w ? mst_wire_check_written(w) : MST_OK;
    if (!status) status = mst_mail_send(lead->server->mail, task, &head, piece, 2, NULL);
    if (status)
        mst_service_log(lead->server, "a message to task %d is lost: %s", (int)task, mst_error()->message);
    else
        t->sent++;
}

/* ---- tasks that come, and tasks that are lost ---- */

void mst_lead_take_hello(mst_lead *lead, const mst_task_message *message) {
    char name[320];
    mst_wire_reader r = {.at = message->body, .left = message->bytes};
    mst_task_devices devices;
    if (message->from >= lead->num_tasks) return;
    mst_lead_task *t = &lead->task[message->from];
    if (t->is_there) mst_lead_lose(lead, message->from, "it has begun anew");
    mst_task_devices_get(&r, &devices);
    if (mst_wire_check_read(&r, "a task")) {
        mst_service_log(lead->server, "%s: %s", mst_service_name(lead->server, message->from, name, sizeof name),
                        mst_error()->message);
        free((void *)(uintptr_t)devices.device);
        return;
    }
    free((void *)(uintptr_t)t->devices.device);
    *t = (mst_lead_task){.is_there = true, .hello = (uint64_t)message->head.number, .devices = devices};
    if (message->from != lead->server->self)
        mst_service_log(lead->server, "%s is there", mst_service_name(lead->server, message->from, name, sizeof name));
    if (!mst_lead_has_all(lead)) return;
    mst_task_status_wait_for(&lead->server->status, "");
    if (lead->num_tasks > 1) mst_service_log(lead->server, "all %d tasks are there", (int)lead->num_tasks);
    for (mst_lead_session *s = lead->sessions, *next; s; s = next) {
        next = s->next;
        if (s->stage == MST_LEAD_WAITS_FOR_TASKS) mst_lead_go_on(s);
    }
}

void mst_lead_lose(mst_lead *lead, int32_t peer, const char *why) {
    char name[320];
    mst_failure failure;
    if (peer < lead->num_tasks) {
        if (!lead->task[peer].is_there) return;
        lead->task[peer].is_there = lead->task[peer].joins = false;
        mst_service_name(lead->server, peer, name, sizeof name);
        mst_failure_keep(
            &failure, MST_FAIL(MST_UNAVAILABLE,
                               "task %s is lost (%s): start it again; its variables then have no values", name, why));
    }
    for (mst_lead_session *s = lead->sessions, *next; s; s = next) {
        next = s->next;
        if (peer < lead->num_tasks)
            mst_lead_session_lose(s, peer, &failure);
        else if (s->client == peer)
            mst_lead_session_end(s);
    }
}

/* Ends the runs that use both the sender of MESSAGE and the task with which it has lost its connection. */
static void take_misses(mst_lead *lead, const mst_task_message *message) {
    const int64_t other = message->head.number;
    char name[320], missed[320];
    mst_failure failure;
    if (message->from >= lead->num_tasks || other < 0 || other >= lead->num_tasks) return;
    mst_service_name(lead->server, message->from, name, sizeof name);
    mst_service_name(lead->server, (int32_t)other, missed, sizeof missed);
    mst_failure_keep(&failure, MST_FAIL(MST_UNAVAILABLE,
                                        "task %s has lost its connection with %s: see whether that one runs, and "
                                        "whether the network between them does",
                                        name, missed));
    for (mst_lead_session *s = lead->sessions, *next; s; s = next) {
        next = s->next;
        if (s->stage != MST_LEAD_RUNS || !s->plan->runs_on[message->from] || !s->plan->runs_on[other]) continue;
        mst_lead_keep_failure(s, &failure);
        mst_lead_run_refuse(s);
    }
}

/* ---- joining ---- */

/* JOINS may come before HELLO. Then it does not count, since the task could not be told the end of the job yet. The
 * task sends JOINS again after HELLO. */
void mst_lead_take_join(mst_lead *lead, const mst_task_message *message) {
    if (message->from >= lead->num_tasks || !lead->task[message->from].is_there) return;
    lead->task[message->from].joins = true;
    mst_lead_end_job(lead);
}

void mst_lead_end_job(mst_lead *lead) {
    if (lead->sessions || lead->told_end || mst_cluster_num_ps(lead->server->cluster)) return;
    for (int32_t i = 0; i < lead->num_tasks; i++)
        if (!lead->task[i].joins) return;
    lead->told_end = true;
    for (int32_t i = lead->num_tasks - 1; i >= 0; i--) mst_lead_send(lead, i, MST_SERVICE_ENDS, 0, 0, NULL, NULL, 0);
}

/* ---- the whole ---- */

void mst_lead_take(mst_lead *lead, mst_task_message *message) {
    switch (message->head.kind) {
        case MST_SESSION_OPEN:
        case MST_SESSION_PLAN:
        case MST_SESSION_RUN:
        case MST_SESSION_STATE:
        case MST_SESSION_FORGET:
        case MST_SESSION_CLOSE: mst_lead_take_request(lead, message); return;
        case MST_SERVICE_HELLO: mst_lead_take_hello(lead, message); break;
        case MST_SERVICE_JOINS: mst_lead_take_join(lead, message); break;
        case MST_SERVICE_MISSES: take_misses(lead, message); break;
        case MST_PART_ANSWER: mst_lead_take_answer(lead, message); break;
        case MST_PART_VOTE: mst_lead_run_take_vote(lead, message); break;
        case MST_PART_DONE: mst_lead_run_take_done(lead, message); break;
        default: break;
    }
    mst_task_message_free(message);
}

/* Says every few seconds for whom the leader waits. */
static int64_t complain_of_missing(mst_lead *lead, int64_t now) {
    char missing[500];
    if (mst_lead_has_all(lead)) {
        lead->next_complaint = 0;
        return MST_NEVER;
    }
    if (!lead->next_complaint) lead->next_complaint = now + FIRST_COMPLAINT;
    if (now < lead->next_complaint) return lead->next_complaint;
    lead->next_complaint = now + PAUSE;
    mst_lead_missing(lead, missing, sizeof missing);
    mst_task_status_wait_for(&lead->server->status, missing);
    mst_service_log(lead->server, "waits for %s", missing);
    return lead->next_complaint;
}

int64_t mst_lead_work(mst_lead *lead, int64_t now) {
    int64_t first = complain_of_missing(lead, now);
    for (mst_lead_session *s = lead->sessions, *next; s; s = next) {
        next = s->next;
        const int64_t end = mst_lead_session_work(s, now);
        if (end < first) first = end;
    }
    return first;
}

mst_status mst_lead_create(mst_task_server *server, mst_lead **out) {
    mst_lead *lead = calloc(1, sizeof *lead);
    mst_lead_task *task = calloc((size_t)server->num_tasks, sizeof *task);
    if (!lead || !task) {
        free(lead);
        free(task);
        return MST_NO_MEMORY("for a task server");
    }
    *lead = (mst_lead){.server = server, .num_tasks = server->num_tasks, .task = task};
    /* begins with the time, so that sessions of an earlier leader have other numbers */
    lead->last_session = (uint64_t)(mst_clock_wall() * 1e6) << 8;
    *out = lead;
    return MST_OK;
}

void mst_lead_destroy(mst_lead *lead) {
    if (!lead) return;
    lead->told_end = true;
    while (lead->sessions) mst_lead_session_end(lead->sessions);
    for (int32_t i = 0; i < lead->num_tasks; i++) free((void *)(uintptr_t)lead->task[i].devices.device);
    free(lead->task);
    free(lead);
}
