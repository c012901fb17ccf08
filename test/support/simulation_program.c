#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "support/simulation_inside.h"

/* ---- the program ---- */

static uint64_t given(uint64_t state, int32_t task) {
    return mst_rng_mix(state, (uint64_t)task);
}

static uint64_t next_state(const sim *s, uint64_t state) {
    uint64_t next = state;
    for (int32_t i = 0; i < s->options.num_tasks; i++) next = mst_rng_mix(next, given(state, i));
    return next;
}

uint64_t sim_state(const sim *s, int64_t number) {
    uint64_t state = mst_rng_mix(s->options.seed, 1);
    while (number-- > 0) state = next_state(s, state);
    return state;
}

static void send_datum(sim *s, process *p, int32_t task, int32_t part, uint64_t value) {
    event *e = sim_make_event(DATA, 0, 0, 0);
    const uint64_t to = p->view.member_status[task].instance;
    e->datum = (datum){p->generation, to, p->task, part, p->view.state_number, value};
    sim_send(s, p, task, to, e);
}

/* One for each step; the members are told of the last two. */
static void start_exchange(sim *s, process *p) {
    mst_group_progress *last = p->exchange;
    last[1] = last[0];
    last[0] = (mst_group_progress){.count = ++p->started, .run = (uint64_t)p->view.state_number, .stream = 3};
    last[0].at = s->now;
    snprintf(last[0].name, sizeof last[0].name, "sum");
    mst_members_started(p->members, last, p->started > 1 ? 2 : 1);
}

static void begin_step(sim *s, process *p) {
    if (p->view.state_number >= s->options.num_steps) {
        sim_trace(s, p, "leaves");
        s->has_left[p->task] = true;
        mst_members_left(p->members, p->generation);
        return;
    }
    start_exchange(s, p);
    for (int32_t i = 0; i < s->options.num_tasks; i++)
        if (i != p->task && p->view.member_status[i].takes_part)
            send_datum(s, p, i, 0, given(p->view.state_hash, p->task));
}

/* Takes the datum of FROM, PART and NUMBER (-1: any) out of the inbox. */
static bool take_datum(process *p, int32_t from, int32_t part, int64_t number, datum *out) {
    for (int i = 0; i < p->num_data; i++) {
        const datum d = p->inbox[i];
        if (d.generation != p->generation || d.from != from || d.part != part || (number >= 0 && d.number != number))
            continue;
        p->inbox[i] = p->inbox[--p->num_data];
        *out = d;
        return true;
    }
    return false;
}

static void go_on(sim *s, process *p);

static void copy_state(sim *s, process *p) {
    datum d;
    if (!p->half && take_datum(p, p->view.generation.source, 1, -1, &d)) {
        p->half = true;
        p->view.state_number = MST_NO_STATE;
    }
    if (!p->half || !take_datum(p, p->view.generation.source, 2, -1, &d)) return;
    p->half = p->copies = false;
    p->view.state_number = d.number;
    p->view.state_hash = d.value;
    sim_trace(s, p, "has copied state %" PRId64, d.number);
    mst_members_committed(p->members, d.number);
    begin_step(s, p);
    go_on(s, p);
}

static bool has_all(const process *p, int32_t num_tasks) {
    int32_t count = 1;
    for (int32_t i = 0, all = num_tasks; i < all; i++) num_tasks -= !p->view.member_status[i].takes_part;
    for (int i = 0; i < p->num_data; i++) {
        const datum *d = &p->inbox[i];
        count += d->generation == p->generation && d->part == 0 && d->number == p->view.state_number;
    }
    return count == num_tasks;
}

/* Whatever has become possible. */
static void go_on(sim *s, process *p) {
    if (p->hangs || !p->view.in_generation || p->starts || p->committing) return;
    if (p->copies) {
        copy_state(s, p);
        return;
    }
    if (p->view.state_number >= s->options.num_steps || !has_all(p, s->options.num_tasks)) return;
    p->committing = true;
    sim_push(s, sim_delay(s) + (s->options.elastic_min ? SECOND / 5 : 0), sim_make_event(COMMIT, p->number, 0, 0))
        ->epoch = p->generation;
}

/* One step may be under way when the others go on without P. More of them, and then one of a later generation again,
 * are two parts of the cluster that both go on. */
static void note_late_step(sim *s, process *p) {
    for (int i = 0; i < s->num_processes; i++) {
        process *q = s->process[i];
        if (!sim_runs(q) || q->view.stopped || !q->view.in_generation || q->generation == p->generation) continue;
        process *earlier = q->generation < p->generation ? q : p;
        if (earlier == p && q->generation <= s->last_generation) p->late++;
        if (earlier == q && q->late > 1)
            snprintf(s->wrong, sizeof s->wrong, "%s and %s go on in two parts", s->name[p->task], s->name[q->task]);
    }
}

void sim_program_commit(sim *s, process *p) {
    datum d;
    for (int32_t i = 0; i < s->options.num_tasks; i++)
        if (i != p->task && take_datum(p, i, 0, p->view.state_number, &d) && d.value != given(p->view.state_hash, i))
            snprintf(s->wrong, sizeof s->wrong, "%s has another state of number %" PRId64 " than %s", s->name[i],
                     d.number, s->name[p->task]);
    p->committing = false;
    note_late_step(s, p);
    if (p->generation > s->last_generation) s->last_generation = p->generation;
    p->view.state_hash = next_state(s, p->view.state_hash);
    p->view.state_number++;
    sim_trace(s, p, "commits %" PRId64, p->view.state_number);
    mst_members_committed(p->members, p->view.state_number);
    begin_step(s, p);
    go_on(s, p);
}

void sim_program_begin(sim *s, process *p) {
    p->starts = false;
    for (int32_t i = 0; i < s->options.num_tasks && p->view.generation.source == p->task; i++)
        if (p->view.member_status[i].copies)
            for (int32_t part = 1; part <= 2; part++) send_datum(s, p, i, part, p->view.state_hash);
    if (!p->copies) begin_step(s, p);
    go_on(s, p);
}

void sim_program_receive(sim *s, process *p, const datum *d) {
    int kept = 0;
    for (int i = 0; i < p->num_data; i++)
        if (p->inbox[i].generation >= p->generation) p->inbox[kept++] = p->inbox[i];
    p->num_data = kept;
    if (d->generation < p->generation || d->to != p->instance) return;
    if (p->num_data == MOST_DATA) abort();
    p->inbox[p->num_data++] = *d;
    go_on(s, p);
}

/* A copy that was cut off: the program has nothing, or begins anew. */
static void mend_state(sim *s, process *p) {
    if (p->view.state_number >= 0 || sim_random(s, 2)) return;
    p->view.state_number = 0;
    p->view.state_hash = sim_state(s, 0);
}

void sim_program_ready(sim *s, process *p) {
    mend_state(s, p);
    p->state.state_number = p->view.state_number;
    p->state.state_hash = p->view.state_hash;
    p->state.ended_at = MST_NO_STATE;
    sim_trace(s, p, "is ready with %" PRId64, p->view.state_number);
    if (mst_members_ready(p->members, &p->state)) sim_trace(s, p, "%s", mst_error()->message);
}
