/* Jobs that may go on with fewer workers: which tasks may go on, and simulated clusters whose workers are lost, come
 * back and are cut off.
 *
 *     test_cluster_elastic 4711      this seed, and prints what happens */
#include <inttypes.h>
#include <stdio.h>

#include "membership/quorum.h"
#include "support/simulation.h"
#include "support/test.h"

enum { STEPS = 60, SEEDS = 1500, MOST_FAULTS = 6 };

/* ---- the rule ---- */

static mst_task_set set(const char *tasks) {
    mst_task_set out = 0;
    for (; *tasks; tasks++) out |= mst_task_bit(*tasks - '0');
    return out;
}

static void who_may_go_on(void **state) {
    (void)state;
    static const struct {
        const char *last, *there;
        bool may;
    } rows[] = {
        {"0", "0", true},         {"0", "1", false},      {"01", "0", true},      {"01", "1", false},
        {"01", "12", false},      {"01", "02", true},     {"12", "1", true},      {"12", "02", false},
        {"012", "0", false},      {"012", "01", true},    {"012", "12", true},    {"012", "234", false},
        {"0123", "01", true},     {"0123", "03", true},   {"0123", "12", false},  {"0123", "123", true},
        {"0123", "23", false},    {"01234", "01", false}, {"01234", "234", true}, {"13579", "135", true},
        {"13579", "0246", false}, {"3579", "35", true},   {"3579", "579", true},  {"3579", "57", false},
        {"012345", "", false},    {"05", "05", true},     {"5", "5012", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (mst_has_majority(set(rows[i].last), set(rows[i].there)) != rows[i].may)
            fail_msg("of {%s} the tasks {%s} %s go on", rows[i].last, rows[i].there, rows[i].may ? "may" : "may not");
}

/* Whatever the last generation was, two parts of the cluster never both go on. */
static void two_parts_never_both_go_on(void **state) {
    (void)state;
    const mst_task_set all = mst_all_tasks(6);
    for (mst_task_set last = 1; last <= all; last++)
        for (mst_task_set there = 0; there <= all; there++)
            assert_false(mst_has_majority(last, there) && mst_has_majority(last, all & ~there));
    assert_true(mst_has_majority(mst_all_tasks(64), mst_all_tasks(32)));
    assert_false(mst_has_majority(mst_all_tasks(64), ~mst_all_tasks(32)));
}

/* A generation that some task has agreed to may have begun, so its majority is needed too. */
static void what_was_agreed_to_counts(void **state) {
    (void)state;
    mst_known_generations known = {.begun = {4, set("01234")}}, other = {.begun = {4, set("01234")}};
    assert_true(mst_may_go_on(&known, set("234")));
    assert_true(mst_know_agreed(&other, &(mst_known_generation){6, set("012")}));
    assert_true(mst_know_more(&known, &other));
    assert_false(mst_may_go_on(&known, set("234")));
    assert_true(mst_may_go_on(&known, set("0123")));
    mst_know_begun(&known, &(mst_known_generation){7, set("123")});
    assert_int_equal(known.num_agreed, 0);
    assert_true(mst_may_go_on(&known, set("23")));
    mst_know_begun(&known, &(mst_known_generation){6, set("012")});
    assert_int_equal(known.begun.number, 7);
    for (uint32_t i = 0; i < MST_AGREED_MOST; i++)
        assert_true(mst_know_agreed(&known, &(mst_known_generation){10 + i, set("12")}));
    assert_true(mst_know_agreed(&known, &(mst_known_generation){10, set("12")}));
    assert_false(mst_know_agreed(&known, &(mst_known_generation){30, set("12")}));
    mst_know_withdrawn(&known, 11, 2, 3);
    assert_int_equal(known.num_agreed, MST_AGREED_MOST - 2); /* without 11 and 14 */
    assert_true(mst_know_agreed(&known, &(mst_known_generation){30, set("12")}));
}

static void no_two_tasks_propose_one_number(void **state) {
    (void)state;
    const mst_known_generations known = {.begun = {7, 3}, .num_agreed = 1, .agreed = {{11, 3}}};
    for (int32_t n = 2; n < 7; n++)
        for (int32_t task = 0; task < n; task++) {
            const uint32_t number = mst_next_generation(&known, 0, task, n);
            assert_int_equal(number % (uint32_t)n, task);
            assert_in_range(number, 12, 11 + n);
        }
    assert_int_equal(mst_next_generation(&known, 20, 1, 3), 22);
    assert_int_equal(mst_next_generation(&known, INT32_MAX - 1, 0, 3), 0);
}

/* ---- one thing that happens ---- */

static sim *begin(int32_t num_tasks, int32_t min, int32_t num_started) {
    sim *s = sim_create(&(sim_options){.num_tasks = num_tasks, .elastic_min = min, .num_steps = STEPS});
    for (int32_t i = 0; i < num_started; i++) sim_start(s, i, 0.01 * i);
    sim_run(s, 2);
    return s;
}

static void assert_done(sim *s, int32_t task) {
    const sim_view v = sim_look(s, task);
    assert_int_equal(v.end, SIM_BYE);
    assert_int_equal(v.state_number, STEPS);
    assert_true(v.state_hash == sim_state(s, STEPS));
}

static void the_others_go_on_without_the_lost(void **state) {
    (void)state;
    for (int32_t lost = 0; lost < 3; lost++) {
        sim *s = begin(3, 1, 3);
        assert_true(sim_look(s, lost).in_generation);
        sim_kill(s, lost, false);
        sim_run(s, 2);
        for (int32_t i = 0; i < 3; i++) {
            if (i == lost) continue;
            assert_true(sim_look(s, i).in_generation);
            assert_false(sim_look(s, i).member_status[lost].takes_part);
        }
        assert_true(sim_run_to_end(s, 30));
        for (int32_t i = 0; i < 3; i++)
            if (i != lost) assert_done(s, i);
        assert_string_equal(sim_wrong(s), "");
        sim_destroy(s);
    }
}

static void the_lost_comes_back(void **state) {
    (void)state;
    for (int32_t lost = 0; lost < 3; lost++) {
        sim *s = begin(3, 1, 3);
        sim_kill(s, lost, false);
        sim_start(s, lost, 2);
        sim_run(s, 4);
        for (int32_t i = 0; i < 3; i++)
            assert_true(sim_look(s, i).in_generation && sim_look(s, i).member_status[lost].takes_part);
        assert_true(sim_run_to_end(s, 30));
        for (int32_t i = 0; i < 3; i++) assert_done(s, i);
        assert_string_equal(sim_wrong(s), "");
        sim_destroy(s);
    }
}

/* The first tasks wait for all others. After some time they begin without them if they are a majority. */
static void a_job_begins_with_a_majority_and_grows(void **state) {
    (void)state;
    sim *s = begin(3, 2, 2);
    assert_false(sim_look(s, 0).in_generation);
    sim_run(s, 10);
    assert_true(sim_look(s, 0).in_generation && sim_look(s, 1).in_generation);
    sim_start(s, 2, 0);
    sim_run(s, 2);
    assert_true(sim_look(s, 0).member_status[2].takes_part && sim_look(s, 2).in_generation);
    assert_true(sim_run_to_end(s, 30));
    for (int32_t i = 0; i < 3; i++) assert_done(s, i);
    sim_destroy(s);
    s = begin(3, 1, 1);
    sim_run(s, 60);
    assert_false(sim_look(s, 0).in_generation);
    assert_true(sim_look(s, 0).num_waiting > 5);
    sim_destroy(s);
}

static void fewer_than_the_least_wait(void **state) {
    (void)state;
    sim *s = begin(3, 3, 3);
    sim_kill(s, 1, false);
    sim_run(s, 20);
    assert_false(sim_look(s, 0).in_generation);
    assert_int_equal(sim_look(s, 0).waited.task, 1);
    sim_start(s, 1, 0);
    assert_true(sim_run_to_end(s, 30));
    for (int32_t i = 0; i < 3; i++) assert_done(s, i);
    sim_destroy(s);
}

/* Of two workers, worker 0 goes on alone. Worker 1 goes on only if worker 0 is known to have ended, and else waits. */
static void of_two_the_first_goes_on_and_the_second_where_the_first_has_ended(void **state) {
    (void)state;
    for (int ended = 0; ended < 2; ended++) {
        sim *s = begin(2, 1, 2);
        sim_kill(s, 0, false);
        if (ended) sim_run(s, 1);
        if (ended) sim_tell_ended(s, 1, 0);
        sim_run(s, 5);
        assert_int_equal(sim_look(s, 1).in_generation, ended);
        if (!ended) sim_start(s, 0, 0);
        assert_true(sim_run_to_end(s, 60));
        assert_done(s, 1);
        sim_destroy(s);
    }
}

/* A network that is cut in two: the smaller part waits, and joins when it is whole again. */
static void the_smaller_part_of_a_cut_network_waits(void **state) {
    (void)state;
    for (int32_t first = 0; first <= 3; first += 3) { /* the leader is in the smaller part, or not */
        sim *s = begin(5, 1, 5);
        for (int32_t a = 0; a < 5; a++)
            for (int32_t b = 0; b < 5; b++)
                if (a - first >= 0 && a - first < 2 && (b < first || b >= first + 2)) sim_cut(s, a, b, 4, true);
        sim_run(s, 3);
        const int64_t before = sim_look(s, first).state_number;
        assert_false(sim_look(s, first).in_generation || sim_look(s, first + 1).in_generation);
        assert_true(sim_look(s, 2).in_generation);
        assert_true(sim_look(s, 2).state_number > before + 3);
        assert_true(sim_run_to_end(s, 60));
        for (int32_t i = 0; i < 5; i++) assert_done(s, i);
        assert_string_equal(sim_wrong(s), "");
        sim_destroy(s);
    }
}

static void too_few_for_too_long_is_an_error(void **state) {
    (void)state;
    sim *s = begin(3, 1, 3);
    sim_kill(s, 0, false);
    sim_kill(s, 1, false);
    assert_true(sim_run_to_end(s, 100));
    assert_int_equal(sim_look(s, 2).end, SIM_FAILED);
    assert_non_null(strstr(sim_look(s, 2).failure.message, "1 of 3 workers were here for 60 s"));
    sim_destroy(s);
}

static void who_comes_when_all_have_ended_ends_too(void **state) {
    (void)state;
    sim *s = sim_create(&(sim_options){.num_tasks = 3, .elastic_min = 1, .num_steps = STEPS});
    sim_start(s, 1, 0);
    assert_true(sim_run_to_end(s, 100));
    assert_int_equal(sim_look(s, 1).end, SIM_FAILED);
    assert_non_null(strstr(sim_look(s, 1).failure.message,
                           "1 of 3 workers were here for 60 s, and may not begin alone: they are no majority of all; "
                           "start the others too"));
    assert_non_null(strstr(sim_look(s, 1).failure.message, "if the job has ended before, nothing is left to do"));
    sim_destroy(s);
}

/* ---- whatever happens ---- */

static void fault(sim *s, int32_t num_tasks) {
    const int32_t task = (int32_t)sim_random(s, (uint64_t)num_tasks), part = (int32_t)sim_random(s, 1u << num_tasks);
    const double seconds = 15 * (double)(1 + sim_random(s, 1000)) / 1000;
    const uint64_t kind = sim_random(s, 4);
    if (kind == 0 && sim_look(s, task).end == SIM_RUNS) {
        sim_kill(s, task, sim_random(s, 3) == 0);
        sim_start(s, task, seconds);
    } else if (kind == 1) {
        sim_stop(s, task, seconds);
    } else if (kind > 1) {
        for (int32_t a = 0; a < num_tasks; a++)
            for (int32_t b = 0; b < num_tasks; b++)
                if ((part >> a & 1) && !(part >> b & 1)) sim_cut(s, a, b, seconds, kind == 2);
    }
}

static bool seed_is_right(uint64_t seed, bool trace) {
    sim_options options = {.seed = seed, .rough = true, .trace = trace, .num_steps = 25};
    sim *chance = sim_create(&(sim_options){.seed = seed, .num_tasks = 1});
    options.num_tasks = 2 + (int32_t)sim_random(chance, 4);
    options.elastic_min = 1 + (int32_t)sim_random(chance, (uint64_t)options.num_tasks);
    sim_destroy(chance);
    sim *s = sim_create(&options);
    const char *wrong = "";
    const int32_t n = options.num_tasks;
    for (int32_t i = 0; i < n; i++) sim_start(s, i, (double)sim_random(s, sim_random(s, 3) ? 3 : 20));
    double next = (double)sim_random(s, 10);
    for (int faults = (int)sim_random(s, MOST_FAULTS + 1); !sim_run_to_end(s, 0) && sim_next(s);) {
        if (sim_seconds(s) > 2000) break;
        if (faults && sim_seconds(s) > next) {
            fault(s, n);
            faults--;
            next = sim_seconds(s) + (double)sim_random(s, 12);
        }
    }
    if (sim_seconds(s) > 2000) wrong = "a job is stuck";
    bool done = false; /* a task that was away at the end has fewer steps, and may wait in vain */
    for (int32_t i = 0; i < n; i++) done |= sim_look(s, i).has_left;
    for (int32_t i = 0; i < n && !*wrong; i++) {
        const sim_view v = sim_look(s, i);
        const bool is_alone =
            strstr(v.failure.message, "may not go on alone") || strstr(v.failure.message, "may not begin alone");
        if (v.end == SIM_FAILED && !(done && is_alone)) wrong = v.failure.message;
        if (v.end == SIM_BYE && v.num_generations && v.state_hash != sim_state(s, v.state_number))
            wrong = "a state is wrong";
    }
    if (!done && !*wrong) wrong = "nobody is done";
    if (*sim_wrong(s)) wrong = sim_wrong(s);
    if (*wrong) fprintf(stderr, "seed %" PRIu64 ", at %.3f s: %s\n", seed, sim_seconds(s), wrong);
    const bool right = !*wrong;
    sim_destroy(s);
    return right;
}

static void every_seed_ends_with_the_undisturbed_state(void **state) {
    (void)state;
    int wrong = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) wrong += !seed_is_right(seed, false);
    assert_int_equal(wrong, 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_may_go_on),
        cmocka_unit_test(two_parts_never_both_go_on),
        cmocka_unit_test(what_was_agreed_to_counts),
        cmocka_unit_test(no_two_tasks_propose_one_number),
        cmocka_unit_test(the_others_go_on_without_the_lost),
        cmocka_unit_test(the_lost_comes_back),
        cmocka_unit_test(a_job_begins_with_a_majority_and_grows),
        cmocka_unit_test(fewer_than_the_least_wait),
        cmocka_unit_test(of_two_the_first_goes_on_and_the_second_where_the_first_has_ended),
        cmocka_unit_test(the_smaller_part_of_a_cut_network_waits),
        cmocka_unit_test(too_few_for_too_long_is_an_error),
        cmocka_unit_test(who_comes_when_all_have_ended_ends_too),
        cmocka_unit_test(every_seed_ends_with_the_undisturbed_state),
    };
    if (argc == 2) return seed_is_right(strtoull(argv[1], NULL, 10), true) ? 0 : 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
