#include <stdlib.h>

#include "base/rng.h"
#include "support/simulation_inside.h"

/* ---- chance and time ---- */

uint64_t sim_random(sim *s, uint64_t n) {
    return mst_rng_mix(s->options.seed, s->draws++) % n;
}

int64_t sim_delay(sim *s) {
    if (!s->options.rough) return MILLISECOND;
    const uint64_t kind = sim_random(s, 100);
    const uint64_t most = kind < 80 ? 500 : kind < 98 ? 20000 : 1000000;
    return (int64_t)(1 + sim_random(s, most)) * 1000;
}

static bool is_before(const event *a, const event *b) {
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void push(sim *s, event *e) {
    if (s->num_events == MOST_EVENTS) abort();
    e->order = s->orders++;
    int i = s->num_events++;
    for (; i && is_before(e, s->heap[(i - 1) / 2]); i = (i - 1) / 2) s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = e;
}

event *sim_pop(sim *s) {
    event *first = s->heap[0], *last = s->heap[--s->num_events];
    int i = 0;
    for (int child = 1; child < s->num_events; child = 2 * i + 1) {
        if (child + 1 < s->num_events && is_before(s->heap[child + 1], s->heap[child])) child++;
        if (!is_before(s->heap[child], last)) break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return first;
}

event *sim_make_event(event_kind kind, int process, int peer, size_t bytes) {
    event *e = calloc(1, sizeof *e + bytes);
    if (!e) abort();
    e->kind = kind;
    e->process = process;
    e->peer = peer;
    e->bytes = bytes;
    return e;
}

event *sim_push(sim *s, int64_t nanoseconds, event *e) {
    e->time = s->now + nanoseconds;
    push(s, e);
    return e;
}

void sim_keep(queue *q, event *e) {
    if (!q->first) q->last = &q->first;
    e->next = NULL;
    *q->last = e;
    q->last = &e->next;
}

event *sim_take(queue *q) {
    event *e = q->first;
    if (e) q->first = e->next;
    return e;
}

void sim_drop_all(queue *q) {
    for (event *e; (e = sim_take(q));) free(e);
}

/* ---- connections ---- */

connection *sim_between(sim *s, int a, int b) {
    return &s->connection[a < b ? a : b][a < b ? b : a];
}

bool sim_runs(const process *p) {
    return p->view.end == SIM_RUNS;
}

static bool is_cut(const sim *s, const process *a, const process *b) {
    return s->now < s->cut_until[a->task][b->task];
}

static bool may_connect(sim *s, const process *a, const process *b) {
    const connection *c = sim_between(s, a->number, b->number);
    return a->task != b->task && sim_runs(a) && sim_runs(b) && !a->view.stopped && !b->view.stopped && !c->up &&
           !c->view[0] && !c->view[1] && !is_cut(s, a, b);
}

void sim_want_link(sim *s, const process *a, const process *b) {
    connection *c = sim_between(s, a->number, b->number);
    if (c->wanted || !may_connect(s, a, b)) return;
    c->wanted = true;
    sim_push(s, sim_delay(s), sim_make_event(LINK, a->number, b->number, 0));
}

void sim_want_links(sim *s, const process *p) {
    for (int i = 0; i < s->num_processes; i++) sim_want_link(s, p, s->process[i]);
}

static void send_on(sim *s, connection *c, event *e) {
    int64_t *sent = &c->sent[e->process > e->peer];
    e->epoch = c->epoch;
    e->time = s->now + sim_delay(s);
    if (e->time < *sent) e->time = *sent;
    *sent = e->time;
    push(s, e);
}

static void send_held(sim *s, connection *c, process *from, const process *to) {
    queue held = from->held[to->task];
    from->held[to->task].first = NULL;
    for (event *e; (e = sim_take(&held));) {
        if (e->kind == DATA && e->datum.to != to->instance) {
            sim_keep(&from->held[to->task], e);
            continue;
        }
        e->process = to->number;
        send_on(s, c, e);
    }
}

void sim_link(sim *s, process *a, process *b) {
    connection *c = sim_between(s, a->number, b->number);
    c->wanted = false;
    if (!may_connect(s, a, b)) return;
    c->epoch++;
    c->up = true;
    c->view[0] = c->view[1] = c->epoch;
    c->sent[0] = c->sent[1] = s->now;
    send_on(s, c, sim_make_event(CONNECTED, a->number, b->number, 0));
    send_on(s, c, sim_make_event(CONNECTED, b->number, a->number, 0));
    send_held(s, c, a, b);
    send_held(s, c, b, a);
}

/* P hears that the connection to Q has broken, IN nanoseconds; what arrives later is lost. */
static void lose(sim *s, const process *p, const process *q, int64_t in, const char *why) {
    if (!sim_runs(p)) return;
    event *e = sim_make_event(LOST, p->number, q->number, 0);
    e->epoch = sim_between(s, p->number, q->number)->epoch;
    e->why = why;
    sim_push(s, in, e);
}

/* Breaks the connection; AFTER: only when it is noticed by silence. CLOSED: what was sent still arrives. */
void sim_disconnect(sim *s, const process *a, const process *b, double after, bool closed, const char *why) {
    connection *c = sim_between(s, a->number, b->number);
    if (!c->up) return;
    c->up = false;
    for (int side = 0; side < 2; side++) {
        const process *p = (side == 0) == (a->number < b->number) ? a : b, *q = p == a ? b : a;
        int64_t in = (int64_t)(after * (double)SECOND) + sim_delay(s);
        if (closed && s->now + in <= c->sent[side]) in = c->sent[side] - s->now + 1;
        lose(s, p, q, in, why);
    }
}

void sim_disconnect_all(sim *s, const process *p, double after, bool closed, const char *why) {
    for (int i = 0; i < s->num_processes; i++)
        if (s->process[i] != p) sim_disconnect(s, p, s->process[i], after, closed, why);
}

/* The process that a message of FROM to TASK goes to, of those that FROM has a connection to: that of INSTANCE, or else
 * for control the newest. */
static process *find_receiver(sim *s, const process *from, int32_t task, uint64_t instance, event_kind kind) {
    process *newest = NULL;
    for (int i = 0; i < s->num_processes; i++) {
        process *p = s->process[i];
        const connection *c = sim_between(s, from->number, i);
        if (p->task != task || p == from || !c->view[from->number > i]) continue;
        if (p->instance == instance) return p;
        if (kind == CONTROL) newest = p;
    }
    return newest;
}

void sim_send(sim *s, process *from, int32_t task, uint64_t instance, event *e) {
    process *to = find_receiver(s, from, task, instance, e->kind);
    e->peer = from->number;
    if (!to) {
        sim_keep(&from->held[task], e);
        return;
    }
    e->process = to->number;
    connection *c = sim_between(s, from->number, to->number);
    if (c->up)
        send_on(s, c, e);
    else
        free(e); /* it broke, which FROM does not know yet */
}
