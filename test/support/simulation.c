#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "support/simulation_inside.h"

static const double SILENCE = 10; /* seconds after which a peer is taken for lost */

void sim_trace(const sim *s, const process *p, const char *format, ...) {
    if (!s->options.trace) return;
    va_list list;
    va_start(list, format);
    printf("%11.6f %s.%d ", (double)s->now * 1e-9, s->name[p->task], p->number);
    vprintf(format, list);
    printf("\n");
    va_end(list);
}

/* ---- what members want ---- */

typedef struct owner {
    sim *s;
    process *p;
} owner;

static void on_send(void *context, int32_t to, uint64_t instance, const void *data, size_t bytes) {
    owner *o = context;
    event *e = sim_make_event(CONTROL, 0, 0, bytes);
    memcpy(e->data, data, bytes);
    sim_send(o->s, o->p, to, instance, e);
}

static void on_begun(void *context, const mst_generation *generation) {
    owner *o = context;
    process *p = o->p;
    if (generation->number <= p->generation) snprintf(o->s->wrong, sizeof o->s->wrong, "a generation does not rise");
    if (generation->anew && p->view.num_generations)
        snprintf(o->s->wrong, sizeof o->s->wrong, "a job begins anew that had run");
    p->generation = generation->number;
    p->started = 0;
    p->late = 0;
    p->copies = generation->copies;
    p->half = p->committing = false;
    p->starts = true;
    p->view.generation = *generation;
    p->view.generation.member_status = NULL;
    memcpy(p->view.member_status, generation->member_status,
           (size_t)o->s->options.num_tasks * sizeof *generation->member_status);
    p->view.in_generation = true;
    p->view.num_generations++;
    sim_trace(o->s, p, "begins generation %u of job %u from task %d%s", generation->number, generation->job,
              generation->source, generation->copies ? ", copies" : "");
    sim_push(o->s, 0, sim_make_event(BEGIN, p->number, 0, 0))->epoch = p->generation;
}

static void on_ended(void *context, const mst_task_failure *failure) {
    owner *o = context;
    sim_trace(o->s, o->p, "ends its generation: %s", failure->message);
    if (!o->p->view.in_generation) snprintf(o->s->wrong, sizeof o->s->wrong, "a generation ends that has not begun");
    o->p->view.in_generation = false;
    o->p->view.ended_by = *failure;
    sim_push(o->s, sim_delay(o->s), sim_make_event(READY, o->p->number, 0, 0));
}

static void on_failed(void *context, const mst_task_failure *failure) {
    owner *o = context;
    sim_trace(o->s, o->p, "fails: %s", failure->message);
    o->p->view.failure = *failure;
    o->p->view.in_generation = false;
    sim_push(o->s, 0, sim_make_event(EXIT, o->p->number, SIM_FAILED, 0));
}

static void on_waiting(void *context, const mst_waiting *waiting) {
    owner *o = context;
    sim_trace(o->s, o->p, "waits for %d tasks", waiting->num_waited);
    o->p->view.num_waiting++;
    if (waiting->num_listed) o->p->view.waited = waiting->waited[0];
}

static void on_notice(void *context, const mst_task_failure *notice) {
    owner *o = context;
    sim_trace(o->s, o->p, "hears: %s", notice->message);
    o->p->view.notice = *notice;
    o->p->view.num_notices++;
}

static void on_bye(void *context) {
    owner *o = context;
    sim_trace(o->s, o->p, "bye");
    o->p->view.in_generation = false;
    sim_push(o->s, 0, sim_make_event(EXIT, o->p->number, SIM_BYE, 0));
}

/* ---- processes ---- */

static process *last_of(const sim *s, int32_t task) {
    for (int i = s->num_processes - 1; i >= 0; i--)
        if (s->process[i]->task == task) return s->process[i];
    return NULL;
}

static void set_state(const sim *s, process *p) {
    static const char *const name[] = {"program", "seed", "data"};
    const char *differs = s->differs[p->task];
    p->view.state_number = s->restored[p->task];
    p->view.state_hash = sim_state(s, p->view.state_number) + (differs && strcmp(differs, "state") == 0);
    p->state.num_fingerprints = 5;
    for (int i = 0; i < 3; i++) {
        snprintf(p->state.fingerprint[i].name, sizeof p->state.fingerprint[i].name, "%s", name[i]);
        p->state.fingerprint[i].hash = (uint64_t)i + (differs && strcmp(differs, name[i]) == 0 ? 100 : 0);
    }
    p->state.fingerprint[1] = mst_fingerprint_option("seed", differs && strcmp(differs, "seed") == 0 ? "4" : "3");
    const bool has_less = differs && strcmp(differs, "oneDNN") == 0;
    p->state.fingerprint[3] = mst_fingerprint_option("oneDNN", has_less ? "SSE41" : "AVX");
    p->state.fingerprint[3].hash = has_less ? 1 : 3;
    p->state.fingerprint[4] =
        mst_fingerprint_option("processor", differs && strcmp(differs, "processor") == 0 ? "B" : "A");
}

static void start(sim *s, int32_t task) {
    for (int i = 0; i < s->num_processes && last_of(s, task); i++)
        if (s->process[i]->view.end == SIM_BYE || s->process[i]->view.end == SIM_FAILED) return;
    if (s->num_processes == SIM_PROCESSES) abort();
    process *p = calloc(1, sizeof *p + sizeof(owner));
    if (!p) abort();
    owner *o = (owner *)(p + 1);
    *o = (owner){s, p};
    p->number = s->num_processes;
    p->task = task;
    p->instance = mst_rng_mix(s->options.seed, 1000 + (uint64_t)p->number) | 1;
    p->view.waited.task = -1;
    set_state(s, p);
    s->process[s->num_processes++] = p;
    sim_trace(s, p, "starts");
    const mst_members_events events = {.context = o,
                                       .send = on_send,
                                       .begun = on_begun,
                                       .ended = on_ended,
                                       .failed = on_failed,
                                       .waiting = on_waiting,
                                       .notice = on_notice,
                                       .bye = on_bye};
    const mst_members_options options = {.num_tasks = s->options.num_tasks,
                                         .self = task,
                                         .leader = s->options.leader,
                                         .name = s->names,
                                         .address = s->addresses,
                                         .instance = p->instance,
                                         .now = s->now,
                                         .elastic_min = s->options.elastic_min,
                                         .recovery_timeout = s->options.recovery_timeout,
                                         .start_wait = 10,
                                         .events = events};
    if (mst_members_create(&options, &p->members)) abort();
    sim_want_links(s, p);
    sim_push(s, 100 * MILLISECOND, sim_make_event(TICK, p->number, 0, 0));
    sim_push(s, sim_delay(s), sim_make_event(READY, p->number, 0, 0));
}

/* Frees what the process has, and closes its connections. */
static void finish(sim *s, process *p, sim_end end, double after) {
    p->view.ignored = mst_members_ignored(p->members);
    p->view.end = end;
    mst_members_destroy(p->members);
    p->members = NULL;
    sim_drop_all(&p->kept);
    for (int i = 0; i < SIM_TASKS; i++) sim_drop_all(&p->held[i]);
    sim_disconnect_all(s, p, after, end != SIM_KILLED, after > 0 ? "silent for 10 s" : "connection closed by the peer");
}

void sim_start(sim *s, int32_t task, double seconds) {
    s->starts++;
    sim_push(s, (int64_t)(seconds * (double)SECOND), sim_make_event(START, task, 0, 0));
}

void sim_differ(sim *s, int32_t task, const char *name) {
    s->differs[task] = name;
}

void sim_restore(sim *s, int32_t task, int64_t number) {
    s->restored[task] = number;
}

void sim_kill(sim *s, int32_t task, bool silent) {
    process *p = last_of(s, task);
    if (!p || !sim_runs(p)) return;
    sim_trace(s, p, "is killed%s", silent ? ", which nobody sees" : "");
    finish(s, p, SIM_KILLED, silent ? SILENCE : 0);
}

void sim_kill_newcomers(sim *s) {
    for (int i = 0; i < s->num_processes; i++)
        if (sim_runs(s->process[i]) && !s->process[i]->view.num_generations) finish(s, s->process[i], SIM_KILLED, 0);
}

void sim_refuse(sim *s, int32_t task, const char *why) {
    mst_members_lost(last_of(s, task)->members, s->options.leader, 0, why);
}

void sim_taken(sim *s, int32_t told, int32_t by, int32_t task) {
    mst_members_taken(last_of(s, told)->members, by, task, "10.0.0.9");
}

void sim_list_mismatch(sim *s, int32_t told, int32_t task, const char *why) {
    mst_members_list_mismatch(last_of(s, told)->members, task, why);
}

void sim_tell_ended(sim *s, int32_t told, int32_t task) {
    const process *p = last_of(s, told);
    if (p && sim_runs(p)) mst_members_process_ended(p->members, task);
}

void sim_stop(sim *s, int32_t task, double seconds) {
    process *p = last_of(s, task);
    if (!p || !sim_runs(p) || p->view.stopped) return;
    sim_trace(s, p, "is stopped");
    p->view.stopped = true;
    sim_push(s, (int64_t)(SILENCE * (double)SECOND), sim_make_event(SILENT, p->number, 0, 0))->epoch = ++p->stops;
    sim_push(s, (int64_t)(seconds * (double)SECOND), sim_make_event(CONTINUE, p->number, 0, 0));
}

static void continue_process(sim *s, process *p) {
    sim_trace(s, p, "goes on");
    p->view.stopped = false;
    for (event *e; (e = sim_take(&p->kept));) sim_push(s, 0, e);
    sim_want_links(s, p);
}

void sim_cut(sim *s, int32_t a, int32_t b, double seconds, bool broken) {
    const int64_t until = s->now + (int64_t)(seconds * (double)SECOND);
    if (a == b || until <= s->cut_until[a][b]) return;
    if (s->options.trace)
        printf("%11.6f cut between %s and %s for %g s\n", sim_seconds(s), s->name[a], s->name[b], seconds);
    s->cut_until[a][b] = s->cut_until[b][a] = until;
    sim_push(s, until - s->now, sim_make_event(HEALED, a, b, 0));
    for (int i = 0; i < s->num_processes; i++)
        for (int j = 0; j < s->num_processes; j++) {
            if (s->process[i]->task != a || s->process[j]->task != b) continue;
            connection *c = sim_between(s, i, j);
            if (broken || seconds > SILENCE)
                sim_disconnect(s, s->process[i], s->process[j], broken ? 0 : SILENCE, false,
                               broken ? "connection reset" : "silent for 10 s");
            else
                for (int side = 0; side < 2; side++)
                    if (c->sent[side] < until) c->sent[side] = until;
        }
}

void sim_fail(sim *s, int32_t task, bool derived) {
    process *p = last_of(s, task);
    if (!p || !sim_runs(p) || p->view.stopped) return;
    mst_failure failure = {.code = MST_NUMERICS, .derived = derived, .file = "", .node = "loss"};
    snprintf(failure.message, sizeof failure.message, "loss is not a number in %s", s->name[task]);
    sim_trace(s, p, "%s", failure.message);
    mst_members_failed(p->members, &failure);
}

void sim_hang(sim *s, int32_t task) {
    last_of(s, task)->hangs = true;
}

void sim_give_up(sim *s, int32_t task) {
    const mst_failure failure = {.code = MST_DEADLINE, .file = "", .message = "waited 600 s"};
    mst_members_failed(last_of(s, task)->members, &failure);
}

void sim_inject(sim *s, int32_t task, int32_t from, const void *data, size_t bytes) {
    const process *p = last_of(s, task), *q = last_of(s, from);
    mst_members_received(p->members, from, q->instance, data, bytes);
}

void sim_cannot_join(sim *s, int32_t task, int32_t told) {
    const process *p = last_of(s, told);
    mst_member_message message = {.kind = MST_MEMBER_CANNOT_JOIN};
    uint8_t bytes[MST_MEMBER_MESSAGE_MOST(SIM_TASKS)];
    if (!p || !sim_runs(p) || p->view.stopped) return;
    mst_task_failure_set(&message.failure, MST_INVALID, task, MST_NO_STATE,
                         "address '%s': another program listens on port 22", s->address[task]);
    const size_t size = mst_member_message_encode(&message, s->options.num_tasks, bytes);
    mst_members_received(p->members, task, 1, bytes, size);
}

void sim_repeat(sim *s, int32_t task, mst_member_kind kind) {
    const process *p = last_of(s, task);
    const event *e = s->last[task][kind];
    if (!e) abort();
    mst_members_received(p->members, s->process[e->peer]->task, s->process[e->peer]->instance, e->data, e->bytes);
}

/* ---- events ---- */

static void remember(sim *s, const process *p, const event *e) {
    event **last = &s->last[p->task][e->data[4]];
    free(*last);
    *last = sim_make_event(CONTROL, e->process, e->peer, e->bytes);
    memcpy((*last)->data, e->data, e->bytes);
}

/* Something that the peer of a connection does. */
static void handle_from_peer(sim *s, process *p, const event *e) {
    const process *q = s->process[e->peer];
    connection *c = sim_between(s, p->number, q->number);
    if (c->view[p->number > q->number] != e->epoch) return;
    if (e->kind == CONTROL) {
        remember(s, p, e);
        mst_members_received(p->members, q->task, q->instance, e->data, e->bytes);
    } else if (e->kind == DATA) {
        sim_program_receive(s, p, &e->datum);
    } else if (e->kind == CONNECTED) {
        mst_members_connected(p->members, q->task);
    } else {
        sim_trace(s, p, "loses %s.%d: %s", s->name[q->task], q->number, e->why);
        c->view[p->number > q->number] = 0;
        mst_members_lost(p->members, q->task, q->instance, e->why);
        if (sim_runs(q))
            sim_want_link(s, p, q);
        else
            c->view[0] = c->view[1] = 0;
    }
}

static void handle_of_process(sim *s, process *p, event *e) {
    const bool current = p->view.in_generation && e->epoch == p->generation;
    switch (e->kind) {
        case TICK:
            mst_members_tick(p->members, s->now);
            sim_push(s, 100 * MILLISECOND, sim_make_event(TICK, p->number, 0, 0));
            break;
        case READY: sim_program_ready(s, p); break;
        case BEGIN:
            if (current) sim_program_begin(s, p);
            break;
        case COMMIT:
            if (current) sim_program_commit(s, p);
            break;
        case EXIT: finish(s, p, (sim_end)e->peer, 0); break;
        default: handle_from_peer(s, p, e);
    }
}

static void handle_silence(sim *s, const event *e) {
    process *p = s->process[e->process];
    if (sim_runs(p) && p->view.stopped && p->stops == e->epoch) sim_disconnect_all(s, p, 0, false, "silent for 10 s");
}

static void heal(sim *s) {
    for (int i = 0; i < s->num_processes; i++) sim_want_links(s, s->process[i]);
}

/* To a process, or of it. False: it is stopped, and keeps E for later. */
static bool handle(sim *s, process *p, event *e) {
    if (e->kind <= EXIT && sim_runs(p) && p->view.stopped) {
        sim_keep(&p->kept, e);
        return false;
    }
    if (e->kind == LINK)
        sim_link(s, p, s->process[e->peer]);
    else if (e->kind == SILENT)
        handle_silence(s, e);
    else if (sim_runs(p) && e->kind == CONTINUE)
        continue_process(s, p);
    else if (sim_runs(p))
        handle_of_process(s, p, e);
    return true;
}

bool sim_next(sim *s) {
    if (!s->num_events) return false;
    event *e = sim_pop(s);
    s->now = e->time;
    s->moves += e->kind != TICK;
    if (e->kind == START) {
        s->starts--;
        start(s, e->process);
    } else if (e->kind == HEALED) {
        heal(s);
    } else if (!handle(s, s->process[e->process], e)) {
        return true;
    }
    free(e);
    return true;
}

void sim_run(sim *s, double seconds) {
    const int64_t until = s->now + (int64_t)(seconds * (double)SECOND);
    while (s->num_events && s->heap[0]->time <= until) sim_next(s);
    s->now = until;
}

static bool has_ended(const sim *s) {
    if (s->starts) return false;
    for (int i = 0; i < s->num_processes; i++)
        if (sim_runs(s->process[i])) return false;
    return true;
}

bool sim_run_to_end(sim *s, double seconds) {
    const int64_t until = s->now + (int64_t)(seconds * (double)SECOND);
    while (!has_ended(s) && s->now < until && sim_next(s)) continue;
    return has_ended(s);
}

/* ---- looking ---- */

double sim_seconds(const sim *s) {
    return (double)s->now * 1e-9;
}

int64_t sim_moves(const sim *s) {
    return s->moves;
}

sim_view sim_look(const sim *s, int32_t task) {
    const process *p = last_of(s, task);
    if (!p) return (sim_view){.end = SIM_KILLED};
    sim_view view = p->view;
    view.has_left = s->has_left[task];
    if (p->members) view.ignored = mst_members_ignored(p->members);
    return view;
}

const char *sim_wrong(const sim *s) {
    return s->wrong;
}

/* ---- create and destroy ---- */

sim *sim_create(const sim_options *options) {
    sim *s = calloc(1, sizeof *s);
    if (!s) abort();
    s->options = *options;
    for (int32_t i = 0; i < options->num_tasks; i++) {
        snprintf(s->name[i], sizeof s->name[i], "worker:%d", (int)(i % 100));
        snprintf(s->address[i], sizeof s->address[i], "host%d:22", (int)(i % 100));
        s->names[i] = s->name[i];
        s->addresses[i] = s->address[i];
    }
    return s;
}

void sim_destroy(sim *s) {
    for (int i = 0; i < s->num_processes; i++) {
        process *p = s->process[i];
        mst_members_destroy(p->members);
        sim_drop_all(&p->kept);
        for (int j = 0; j < SIM_TASKS; j++) sim_drop_all(&p->held[j]);
        free(p);
    }
    while (s->num_events) free(sim_pop(s));
    for (int i = 0; i < SIM_TASKS; i++)
        for (int j = 0; j < MST_MEMBER_KINDS; j++) free(s->last[i][j]);
    free(s);
}
