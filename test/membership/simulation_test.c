/* Simulated clusters by the thousand seeds: whatever happens to processes and connections, a job ends with the state of
 * the undisturbed one, or with one error everywhere.
 *
 *     test_cluster_simulation           all seeds
 *     test_cluster_simulation 4711      this one, and prints what happens
 *     test_cluster_simulation 0 100000  that many from the first on */
#include "support/simulation.h"

#include <inttypes.h>
#include <stdio.h>

#include "support/test.h"

enum { SEEDS = 6000, MOST_FAULTS = 6 };

static const double LONG = 2000; /* seconds, of a cluster that is stuck */

/* What happens to the cluster of a seed. */
typedef enum story { DISTURBED, DIFFERENT_OPTIONS, FAILING_PROGRAM, LOST_FOR_GOOD, TWO_OF_ONE, NUM_STORIES } story;

typedef struct plan {
    story story;
    sim_options options;
    int num_faults;
    int64_t at[MOST_FAULTS]; /* in moves */
    bool gentle;             /* no kills, and nothing that lasts longer than the leader waits after an error */
    int32_t victim;          /* of the story */
    int64_t when;            /* in moves */
    bool derived;
} plan;

typedef struct cluster {
    plan plan;
    sim *sim;
    int32_t second; /* which is a process too many; -1: none */
    char wrong[512];
} cluster;

static plan make_plan(uint64_t seed, bool trace) {
    plan p = {.options = {.seed = seed, .rough = true, .trace = trace}};
    sim *chance = sim_create(&(sim_options){.seed = seed, .num_tasks = 1});
    const bool disturbed = sim_random(chance, 10) < 6;
    p.story = disturbed ? DISTURBED : (story)(1 + sim_random(chance, NUM_STORIES - 1));
    p.gentle = p.story != DISTURBED;
    p.options.num_tasks = (int32_t)(p.gentle ? 2 + sim_random(chance, 4) : 1 + sim_random(chance, 6));
    p.options.leader = sim_random(chance, 4) ? 0 : (int32_t)sim_random(chance, (uint64_t)p.options.num_tasks);
    p.options.num_steps = (int64_t)sim_random(chance, 12);
    const int64_t tasks = p.options.num_tasks;
    const int64_t moves = 20 * tasks + tasks * tasks * (2 + 2 * p.options.num_steps);
    p.num_faults = (int)sim_random(chance, MOST_FAULTS + 1);
    for (int i = 0; i < p.num_faults; i++) p.at[i] = (int64_t)sim_random(chance, (uint64_t)moves);
    p.victim = (int32_t)sim_random(chance, (uint64_t)tasks);
    p.when = (int64_t)sim_random(chance, (uint64_t)moves);
    p.derived = sim_random(chance, 3) == 0;
    sim_destroy(chance);
    return p;
}

static double seconds(sim *s, double most) {
    const double part = (double)(1 + sim_random(s, 1000)) / 1000;
    return most * part * part;
}

/* ---- what happens ---- */

static void fault(cluster *c) {
    sim *s = c->sim;
    const uint64_t num_tasks = (uint64_t)c->plan.options.num_tasks;
    const int32_t task = (int32_t)sim_random(s, num_tasks), other = (int32_t)sim_random(s, num_tasks);
    const double most = c->plan.gentle ? 1 : 15;
    const uint64_t kind = sim_random(s, 10) + (c->plan.gentle ? 5 : 0);
    if (kind < 5) {
        if (sim_look(s, task).end != SIM_RUNS) return;
        sim_kill(s, task, sim_random(s, 4) == 0);
        sim_start(s, task, seconds(s, 3));
    } else if (kind < 7) {
        sim_stop(s, task, seconds(s, most));
    } else {
        sim_cut(s, task, other, seconds(s, most), sim_random(s, 2));
    }
}

static bool has_begun(const cluster *c) {
    for (int32_t i = 0; i < c->plan.options.num_tasks; i++)
        if (!sim_look(c->sim, i).num_generations) return false;
    return true;
}

/* The turn of the story; false: not yet. */
static bool turn(cluster *c) {
    const int32_t victim = c->plan.victim;
    switch (c->plan.story) {
        case FAILING_PROGRAM:
            if (c->plan.derived) sim_fail(c->sim, (victim + 1) % c->plan.options.num_tasks, true);
            sim_fail(c->sim, victim, false);
            return sim_look(c->sim, victim).end != SIM_RUNS || !sim_look(c->sim, victim).stopped;
        case LOST_FOR_GOOD:
            if (!has_begun(c)) return false;
            sim_kill(c->sim, victim, false);
            return true;
        case TWO_OF_ONE:
            if (victim == c->plan.options.leader || sim_look(c->sim, victim).end != SIM_RUNS) return true;
            c->second = victim;
            sim_start(c->sim, victim, 0);
            return true;
        default: return true;
    }
}

/* ---- how it must end ---- */

static void complain(cluster *c, int32_t task, const char *what) {
    if (!c->wrong[0])
        snprintf(c->wrong, sizeof c->wrong, "worker:%d %s, at %.3f s, state number %" PRId64 ", '%.300s'", task, what,
                 sim_seconds(c->sim), sim_look(c->sim, task).state_number, sim_look(c->sim, task).failure.message);
}

/* All steps made, and the state that they make. */
static void check_done(cluster *c) {
    const int64_t steps = c->plan.options.num_steps;
    for (int32_t i = 0; i < c->plan.options.num_tasks; i++) {
        const sim_view v = sim_look(c->sim, i);
        if (!v.has_left) complain(c, i, "has not done its work");
        if (i == c->second) continue;
        if (v.end == SIM_FAILED) complain(c, i, "has failed");
        if (v.end != SIM_BYE || !v.num_generations) continue; /* was killed when the work was done */
        if (v.state_number != steps || v.state_hash != sim_state(c->sim, steps)) complain(c, i, "has a wrong state");
    }
}

/* A task was lost, and the others either had done their work, or have failed naming it. */
static void check_lost(cluster *c) {
    for (int32_t i = 0; i < c->plan.options.num_tasks; i++) {
        const sim_view v = sim_look(c->sim, i);
        const bool done = v.end == SIM_BYE && v.state_number == c->plan.options.num_steps;
        if (i != c->plan.victim && !done && (v.end != SIM_FAILED || v.failure.task != c->plan.victim))
            complain(c, i, "has not ended as it should");
    }
}

/* The same error everywhere, with TEXT in it. */
static void check_failed(cluster *c, const char *text) {
    const sim_view first = sim_look(c->sim, 0);
    for (int32_t i = 0; i < c->plan.options.num_tasks; i++) {
        const sim_view v = sim_look(c->sim, i);
        if (v.end != SIM_FAILED || !strstr(v.failure.message, text)) complain(c, i, "has not failed as it should");
        if (strcmp(v.failure.message, first.failure.message) != 0) complain(c, i, "has failed in another way");
    }
}

static bool any_done(const cluster *c) {
    for (int32_t i = 0; i < c->plan.options.num_tasks; i++)
        if (sim_look(c->sim, i).end == SIM_BYE) return true;
    return false;
}

static void check_end(cluster *c) {
    if (c->plan.story == DIFFERENT_OPTIONS)
        check_failed(c, ": seed ");
    else if (c->plan.story == LOST_FOR_GOOD)
        check_lost(c);
    else if (c->plan.story == DISTURBED || any_done(c))
        check_done(c);
    else
        check_failed(c, c->plan.story == FAILING_PROGRAM ? "loss is not a number" : "two processes");
}

/* ---- a seed ---- */

static void begin(cluster *c) {
    const plan *p = &c->plan;
    c->sim = sim_create(&p->options);
    c->second = -1;
    if (p->story == DIFFERENT_OPTIONS) sim_differ(c->sim, p->victim, "seed");
    if (p->story == DISTURBED && p->options.num_steps)
        for (int i = 0; i < 2; i++) /* a checkpoint of the leader's and one of another's */
            sim_restore(c->sim, i ? p->victim : p->options.leader,
                        (int64_t)sim_random(c->sim, (uint64_t)p->options.num_steps));
    for (int32_t i = 0; i < p->options.num_tasks; i++) sim_start(c->sim, i, seconds(c->sim, 2));
}

static bool seed_is_right(uint64_t seed, bool trace) {
    cluster c = {.plan = make_plan(seed, trace)};
    const plan *p = &c.plan;
    bool turned = false;
    begin(&c);
    while (!sim_run_to_end(c.sim, 0) && sim_seconds(c.sim) < LONG && sim_next(c.sim)) {
        for (int i = 0; i < c.plan.num_faults; i++) {
            if (sim_moves(c.sim) < p->at[i]) continue;
            c.plan.at[i--] = c.plan.at[--c.plan.num_faults];
            fault(&c);
        }
        if (any_done(&c) && sim_seconds(c.sim) > LONG / 2) sim_kill_newcomers(c.sim); /* they wait in vain */
        if (!turned && sim_moves(c.sim) >= p->when) turned = turn(&c);
    }
    if (sim_seconds(c.sim) >= LONG) complain(&c, 0, "or another is stuck");
    if (!c.wrong[0]) check_end(&c);
    if (sim_wrong(c.sim)[0]) snprintf(c.wrong, sizeof c.wrong, "%s", sim_wrong(c.sim));
    if (c.wrong[0]) fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, c.wrong);
    sim_destroy(c.sim);
    return !c.wrong[0];
}

static uint64_t first_seed, num_seeds = SEEDS;

static void every_seed_ends_with_the_undisturbed_state_or_one_error(void **state) {
    (void)state;
    uint64_t wrong = 0;
    for (uint64_t seed = first_seed; seed < first_seed + num_seeds; seed++) wrong += !seed_is_right(seed, false);
    assert_int_equal(wrong, 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_seed_ends_with_the_undisturbed_state_or_one_error)};
    if (argc > 1) first_seed = strtoull(argv[1], NULL, 10);
    if (argc == 2) return seed_is_right(first_seed, true) ? 0 : 1;
    if (argc > 2) num_seeds = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
