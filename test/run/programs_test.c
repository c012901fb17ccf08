/* Random programs, compared with the documented rule (support/program.h): what a step gives does not depend on its
 * devices, on what else is fetched, or on what may fail.
 *
 *   test_run_programs                 some hundred programs
 *   test_run_programs SECONDS [SEED]  as many as there are in SECONDS, from SEED on
 *
 * A program that differs is made smaller as long as it differs, and printed. */
#include "support/test.h"

#include <stdio.h>

#include "base/clock.h"
#include "support/program.h"
#include "support/sanitized.h"

static const program_place places[] = {
    {"cpu:1/1", "cpu", 1, 1},       {"cpu:2/1", "cpu", 2, 1},     {"cpu:4/1", "cpu", 4, 1},
    {"island:2/1", "island", 2, 1}, {"cpu:2/1", "cpu", 2, 2},     {"island:1/1", "island", 1, 3},
    {"lagoon:1", "lagoon", 1, 1},   {"lagoon:3", "lagoon", 3, 1}, {"lagoon:1", "lagoon", 1, 2}};

enum { NUM_PLACES = sizeof places / sizeof *places, NUM_PROGRAMS = SANITIZED ? 60 : 300 };

static uint64_t first_seed = 1;
static double seconds;

typedef struct counts {
    int64_t programs, runs, compared, fetches;
} counts;

/* The first place where P differs, with the reason; -1 where it agrees everywhere. */
static int find_difference(const program *p, char **why) {
    program_values wanted[PROGRAM_RUNS];
    program_follow_rule(p, wanted);
    for (int i = 0; i < NUM_PLACES; i++)
        if (!program_agrees(p, &places[i], wanted, why)) return i;
    return -1;
}

static bool still_differs(const program *p) {
    char *why = NULL;
    const bool differs = find_difference(p, &why) >= 0;
    free(why);
    return differs;
}

static void drop(int *list, int *count, int i) {
    memmove(list + i, list + i + 1, (size_t)(--*count - i) * sizeof *list);
}

/* Takes SMALLER for P where it differs too. */
static bool take(program *p, const program *smaller) {
    if (!still_differs(smaller)) return false;
    *p = *smaller;
    return true;
}

static bool shrink_runs(program *p) {
    bool changed = false;
    for (int r = p->num_runs - 1; r >= 0; r--) {
        program smaller = *p;
        memmove(&smaller.run[r], &smaller.run[r + 1], (size_t)(smaller.num_runs - r - 1) * sizeof *smaller.run);
        smaller.num_runs--;
        if (p->num_runs > 1 && take(p, &smaller)) {
            changed = true;
            continue;
        }
        for (int i = p->run[r].num_fetches - 1; i >= 0 && p->run[r].num_fetches > 1; i--) {
            smaller = *p;
            drop(smaller.run[r].fetch, &smaller.run[r].num_fetches, i);
            changed |= take(p, &smaller);
        }
    }
    return changed;
}

static bool shrink_node(program *p, int n) {
    bool changed = false;
    for (int i = p->node[n].num_control - 1; i >= 0; i--) {
        program smaller = *p;
        drop(smaller.node[n].control, &smaller.node[n].num_control, i);
        changed |= take(p, &smaller);
    }
    program plain = *p;
    plain.node[n].device = -1;
    plain.node[n].mirrored = false;
    if (p->node[n].device >= 0 || p->node[n].mirrored) changed |= take(p, &plain);
    if (p->node[n].kind == PROGRAM_AVERAGE) return changed;
    for (int i = 0; i < p->node[n].num_src; i++)
        for (int other = 0; other < p->node[n].src[i]; other++) {
            program smaller = *p;
            if (p->node[other].kind != PROGRAM_VARIABLE || p->node[other].form != p->node[p->node[n].src[i]].form)
                continue;
            if (p->node[n].kind == PROGRAM_UPDATE && i < p->node[n].num_variables) continue;
            smaller.node[n].src[i] = other;
            changed |= take(p, &smaller);
        }
    return changed;
}

static void shrink(program *p) {
    for (bool changed = true; changed;) {
        changed = shrink_runs(p);
        for (int n = p->num_nodes - 1; n >= 0; n--) changed |= shrink_node(p, n);
    }
}

static void report(program *p) {
    char *why = NULL;
    shrink(p);
    const int place = find_difference(p, &why);
    program_print(p, stderr);
    fail_msg("program %llu on %s of %d tasks: %s", (unsigned long long)p->seed, places[place < 0 ? 0 : place].devices,
             places[place < 0 ? 0 : place].tasks, why ? why : "differs now and then");
}

static void random_programs_give_what_the_rule_says(void **state) {
    (void)state;
    counts c = {0};
    const int64_t end = mst_clock_now() + (int64_t)(seconds * 1e9);
    for (uint64_t seed = first_seed; seconds > 0 ? mst_clock_now() < end : c.programs < NUM_PROGRAMS; seed++) {
        program p = program_random(seed);
        program_values wanted[PROGRAM_RUNS];
        program_follow_rule(&p, wanted);
        for (int r = 0; r < p.num_runs; r++) {
            c.runs++;
            c.compared += !wanted[r].inexact;
            c.fetches += wanted[r].inexact ? 0 : p.run[r].num_fetches;
        }
        c.programs++;
        if (still_differs(&p)) report(&p);
    }
    printf("programs: %lld from seed %llu on, on %d sets of devices each; %lld runs of %lld, %lld fetches compared\n",
           (long long)c.programs, (unsigned long long)first_seed, NUM_PLACES, (long long)c.compared, (long long)c.runs,
           (long long)c.fetches);
    assert_true(c.compared * 4 > c.runs * 3); /* most numbers stay exact */
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_give_what_the_rule_says),
    };
    if (argc > 1) seconds = strtod(argv[1], NULL);
    if (argc > 2) first_seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
