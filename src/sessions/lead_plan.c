/* Plans of sessions in the leader. A plan keeps the client's request PLAN, so that the plan can be made again when a
 * task has come back. It says which task needs which feed and gives which fetch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "sessions/lead_inside.h"

enum { EACH_FEED = 32, EACH_FETCH = 16 /* bytes of the shortest one in a message */ };

/* Reads the whole request, to check that it is complete, and counts feeds and fetches. */
static mst_status count_call(mst_lead_plan *plan) {
    mst_wire_reader r = {.at = plan->body, .left = plan->bytes};
    plan->num_feeds = mst_wire_get_count(&r, EACH_FEED);
    for (int32_t i = 0; i < plan->num_feeds; i++) {
        mst_wire_get_text(&r);
        mst_wire_get_spec(&r);
    }
    plan->num_fetches = mst_wire_get_count(&r, EACH_FETCH);
    for (int32_t i = 0; i < plan->num_fetches; i++) mst_wire_get_text(&r);
    return mst_wire_check_read(&r, "the client");
}

static mst_status alloc_plan(mst_lead_plan *plan, int32_t num_tasks, const mst_task_message *message) {
    plan->body = malloc(message->bytes + 1);
    if (!plan->body) return MST_NO_MEMORY("for a plan");
    memcpy(plan->body, message->body, message->bytes);
    plan->bytes = message->bytes;
    MST_TRY(count_call(plan));
    plan->runs_on = calloc((size_t)num_tasks, sizeof *plan->runs_on);
    plan->made = calloc((size_t)num_tasks, sizeof *plan->made);
    plan->num_tasks = num_tasks;
    plan->feed_task = calloc((size_t)plan->num_feeds + 1, sizeof *plan->feed_task);
    plan->fetch_task = calloc((size_t)plan->num_fetches + 1, sizeof *plan->fetch_task);
    return plan->runs_on && plan->made && plan->feed_task && plan->fetch_task ? MST_OK : MST_NO_MEMORY("for a plan");
}

mst_status mst_lead_plan_create(mst_lead_session *s, const mst_task_message *message, mst_lead_plan **out) {
    mst_lead_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return MST_NO_MEMORY("for a plan");
    const mst_status status = alloc_plan(plan, s->lead->num_tasks, message);
    if (status) {
        mst_lead_plan_free(plan);
        return status;
    }
    plan->number = ++s->last_plan;
    plan->next = s->plans;
    s->plans = plan;
    *out = plan;
    return MST_OK;
}

void mst_lead_plan_free(mst_lead_plan *plan) {
    free(plan->body);
    free(plan->runs_on);
    free(plan->feed_task);
    free(plan->fetch_task);
    for (int32_t i = 0; plan->made && i < plan->num_tasks; i++) free(plan->made[i]);
    free(plan->made);
    free(plan->log);
    free(plan);
}

static mst_lead_plan **find_plan(mst_lead_session *s, uint64_t number) {
    mst_lead_plan **at = &s->plans;
    while (*at && (*at)->number != number) at = &(*at)->next;
    return at;
}

mst_lead_plan *mst_lead_plan_find(mst_lead_session *s, uint64_t number) {
    return *find_plan(s, number);
}

void mst_lead_plan_forget(mst_lead_session *s, uint64_t number) {
    mst_lead_plan **at = find_plan(s, number), *plan = *at;
    if (!plan) return;
    *at = plan->next;
    for (int32_t i = 0; i < s->lead->num_tasks && s->is_open; i++)
        mst_lead_send(s->lead, i, MST_PART_FORGET, s->id, number, NULL, NULL, 0);
    mst_lead_plan_free(plan);
}

/* ---- making ---- */

void mst_lead_plan_begin(mst_lead_session *s) {
    mst_wire_writer w = {0};
    s->plan->has_hash = false;
    mst_lead_begin_stage(s, MST_LEAD_PLANS);
    mst_wire_put_number(&w, s->ticket);
    for (int32_t i = 0; i < s->lead->num_tasks; i++) {
        mst_lead_await(s, i);
        mst_lead_send(s->lead, i, MST_PART_PLAN, s->id, s->plan->number, &w, s->plan->body, s->plan->bytes);
    }
    mst_wire_free(&w);
}

/* Reads a task, numbered in the session's order, or -1. Returns its number in the cluster. */
static int32_t get_task(const mst_lead_session *s, mst_wire_reader *r) {
    const int64_t place = mst_wire_get_within(r, -1, s->lead->num_tasks - 1);
    return place < 0 ? -1 : mst_session_task_at(s->open.first, (int32_t)place);
}

/* Reads the part of a task's answer that is the same for all tasks, and keeps it. */
static mst_status keep_facts(mst_lead_session *s, mst_wire_reader *r) {
    mst_lead_plan *plan = s->plan;
    plan->num_runs_on = 0;
    plan->commits = mst_wire_get_within(r, 0, 1);
    plan->has_step = mst_wire_get_within(r, 0, 1);
    for (int32_t i = 0; i < s->lead->num_tasks; i++) {
        const bool runs_on = mst_wire_get_within(r, 0, 1);
        plan->runs_on[mst_session_task_at(s->open.first, i)] = runs_on;
        plan->num_runs_on += runs_on;
    }
    for (int32_t i = 0; i < plan->num_feeds; i++) plan->feed_task[i] = get_task(s, r);
    for (int32_t i = 0; i < plan->num_fetches; i++) plan->fetch_task[i] = get_task(s, r);
    const char *log = mst_wire_get_text(r);
    MST_TRY(mst_wire_check_read(r, "a task"));
    free(plan->log);
    plan->log = strdup(log);
    return plan->log ? MST_OK : MST_NO_MEMORY("for a plan");
}

mst_status mst_lead_plan_take(mst_lead_session *s, int32_t task, mst_wire_reader *r) {
    char name[320];
    mst_lead_plan *plan = s->plan;
    const uint64_t hash = mst_wire_get_number(r);
    const char *made = mst_wire_get_text(r);
    free(plan->made[task]);
    if (!(plan->made[task] = strdup(made))) return MST_NO_MEMORY("for a plan");
    if (plan->has_hash && hash != plan->hash)
        return MST_FAIL(MST_INVALID,
                        "task %s plans the graph differently from the others: see that all tasks run the same "
                        "version of Muster with the same modules",
                        mst_service_name(s->lead->server, task, name, sizeof name));
    if (plan->has_hash) return MST_OK;
    plan->hash = hash;
    plan->has_hash = true;
    return keep_facts(s, r);
}

/* Finds the part of a task's plan log that differs from that of the first task. TEXT and FIRST are the two logs: each
 * has a section for each pass, with the plan after it. Returns the beginning of the first section of TEXT that differs;
 * the end of TEXT if none does. */
static const char *own_passes(const char *text, const char *first) {
    const char *pass = text, *at = text;
    for (; *at && *at == *first; at++, first++)
        if (at == text || at[-1] == '\n') pass = strncmp(at, "after ", strlen("after ")) == 0 ? at : pass;
    return *at ? pass : at;
}

/* Writes the plan log. It has the whole log of the first task, and those parts of the other tasks' logs that differ
 * from it. */
static void put_made(const mst_lead_session *s, const mst_lead_plan *plan, mst_wire_writer *w) {
    char *text = NULL, name[320];
    size_t size = 0;
    FILE *log = open_memstream(&text, &size);
    const char *first = plan->made[s->open.first];
    for (int32_t i = 0; i < plan->num_tasks && log && first; i++) {
        const int32_t task = mst_session_task_at(s->open.first, i);
        const char *made = plan->made[task] ? plan->made[task] : "", *own = i ? own_passes(made, first) : made;
        if (*own) fprintf(log, "on %s:\n%s", mst_service_name(s->lead->server, task, name, sizeof name), own);
    }
    if (!log || fclose(log)) w->failed = true;
    mst_wire_put_text(w, text ? text : "");
    free(text);
}

void mst_lead_plan_put(const mst_lead_session *s, const mst_lead_plan *plan, mst_wire_writer *w) {
    for (int32_t i = 0; i < plan->num_feeds; i++) mst_wire_put_number(w, (uint64_t)plan->feed_task[i]);
    for (int32_t i = 0; i < plan->num_fetches; i++) mst_wire_put_number(w, (uint64_t)plan->fetch_task[i]);
    mst_wire_put_text(w, plan->log ? plan->log : "");
    put_made(s, plan, w);
}
