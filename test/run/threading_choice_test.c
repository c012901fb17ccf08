/* When one thread runs the programs of all devices, and that the results do not depend on it. */
#include "run/threading_choice.h"

#include <stdlib.h>

#include "support/test.h"
#include "support/training.h"

enum { MILLISECOND = 1000 * 1000 };

/* A machine on which a run takes so many milliseconds, side by side and alone. */
typedef struct machine {
    int64_t together, alone, now;
    mst_threading_choice choice;
} machine;

/* Makes RUNS runs; returns how many of them were made alone. */
static int run(machine *m, int runs) {
    int count = 0;
    for (int i = 0; i < runs; i++) {
        const bool alone = mst_threading_choice_is_alone(&m->choice);
        const int64_t spent = (alone ? m->alone : m->together) * MILLISECOND;
        count += alone;
        m->now += spent;
        mst_threading_choice_add(&m->choice, alone, spent, m->now);
    }
    return count;
}

static void devices_of_a_quiet_machine_run_together_after_one_trial(void **state) {
    (void)state;
    machine m = {.together = 10, .alone = 19};
    assert_int_equal(run(&m, 1000), 2);
}

static void one_thread_does_the_work_while_a_core_is_busy(void **state) {
    (void)state;
    machine m = {.together = 10, .alone = 19};
    run(&m, 100);
    m.together = 40; /* a neighbour comes */
    run(&m, 10);
    assert_true(run(&m, 1000) > 900);
    assert_true(mst_threading_choice_is_alone(&m.choice) || m.choice.trial);
}

static void devices_run_together_again_when_the_core_is_free(void **state) {
    (void)state;
    machine m = {.together = 40, .alone = 19};
    assert_true(run(&m, 1000) > 900);
    m.together = 10;
    run(&m, 100); /* the longest pause is about a second */
    assert_int_equal(run(&m, 1000), 0);
}

static void one_slow_window_changes_nothing(void **state) {
    (void)state;
    machine m = {.together = 10, .alone = 19};
    run(&m, 101); /* up to the end of a window */
    m.together = 60;
    run(&m, 2);
    m.together = 10;
    assert_int_equal(run(&m, 1000), 0);
}

static void run_measured_in_the_other_mode_does_not_count(void **state) {
    (void)state;
    machine m = {.together = 10, .alone = 19};
    run(&m, 100);
    const mst_threading_choice before = m.choice;
    mst_threading_choice_add(&m.choice, true, MILLISECOND, m.now);
    assert_int_equal(m.choice.runs, before.runs);
    assert_int_equal(m.choice.spent, before.spent);
}

/* The SHA-256 of the weights after an epoch, and how many runs one thread made alone. */
static int64_t train(const char *devices, double timeout, char hex[65]) {
    mst_dataset *data = training_data(80, 30, 7, 3);
    mst_model *model = training_model(70, 7, 1e-2f);
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01), .seed = 1,
                          .strategy = {.kind = MST_STRATEGY_MIRRORED, .num_shards = 4},
                          .session = {.devices = devices, .timeout = timeout}));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = 20, .epochs = 2));
    EXPECT_OK(mst_model_sha256(model, hex));
    const int64_t alone = mst_session_runs_alone(mst_model_session(model));
    mst_model_destroy(model);
    mst_dataset_release(data);
    return alone;
}

static void one_thread_gives_the_bits_of_all_threads(void **state) {
    (void)state;
    char wanted[65], got[65];
    train("cpu:1/1", 0, wanted);
    setenv("MUSTER_TEST_ALONE", "1", 1);
    const int64_t two = train("cpu:2/1", 0, got);
    assert_string_equal(got, wanted);
    const int64_t four = train("cpu:4/1", 0, got);
    setenv("MUSTER_TEST_ALONE", "measured", 1);
    assert_string_equal(got, wanted);
    assert_true(two >= 8);
    assert_true(four >= 8);
}

/* The caller must come back at the deadline, whatever a device does. */
static void session_with_a_timeout_keeps_its_threads(void **state) {
    (void)state;
    char hex[65];
    setenv("MUSTER_TEST_ALONE", "1", 1);
    const int64_t with_timeout = train("cpu:2/1", 60, hex), with_team = train("cpu:2/2", 0, hex);
    setenv("MUSTER_TEST_ALONE", "measured", 1);
    assert_int_equal(with_timeout, 0);
    assert_int_equal(with_team, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_of_a_quiet_machine_run_together_after_one_trial),
        cmocka_unit_test(one_thread_does_the_work_while_a_core_is_busy),
        cmocka_unit_test(devices_run_together_again_when_the_core_is_free),
        cmocka_unit_test(one_slow_window_changes_nothing),
        cmocka_unit_test(run_measured_in_the_other_mode_does_not_count),
        cmocka_unit_test(one_thread_gives_the_bits_of_all_threads),
        cmocka_unit_test(session_with_a_timeout_keeps_its_threads),
    };
    setenv("MUSTER_TEST_ALONE", "measured", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
