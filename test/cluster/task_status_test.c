/* The status of a task while it trains, serves or waits, as `muster top` sees it. */
#include "cluster/task_status.h"

#include "base/clock.h"
#include "support/test.h"

static int64_t time_now;
static int64_t stopped_clock(void) {
    return time_now;
}

static const int64_t SECOND = 1000000000;
static mst_task_status status;
static void *data;

/* What is told to those who ask; lives until the next call. */
static mst_task_report report(void) {
    const mst_transport_report reporter = mst_task_status_reporter(&status);
    mst_task_report r;
    size_t bytes;
    free(data);
    data = reporter.make(reporter.context, &bytes);
    assert_non_null(data);
    assert_null(mst_task_report_decode(data, bytes, &r));
    return r;
}

static int open_status(void **state) {
    (void)state;
    mst_cluster *cluster;
    EXPECT_OK(mst_cluster_from_hosts("a:1", "b:2,c:3", "worker", 1, &cluster));
    mst_clock_replace(stopped_clock);
    time_now = SECOND;
    EXPECT_OK(mst_task_status_init(&status, cluster));
    mst_cluster_release(cluster);
    return 0;
}

static int close_status(void **state) {
    (void)state;
    mst_task_status_free(&status);
    mst_clock_replace(NULL);
    free(data);
    data = NULL;
    return 0;
}

static void task_knows_all_tasks_and_has_no_times_before_it_trains(void **state) {
    (void)state;
    const mst_task_report r = report();
    assert_true(r.doing == MST_TASK_IDLE && r.self == 1 && r.step == -1 && r.elapsed == 0 && r.wait == 0);
    assert_int_equal(r.tasks_bytes, strlen("worker:0 b:2\nworker:1 c:3\nps:0 a:1\n"));
    assert_memory_equal(r.tasks, "worker:0 b:2\nworker:1 c:3\nps:0 a:1\n", r.tasks_bytes);
}

static void times_and_examples_count_from_the_beginning_of_training(void **state) {
    (void)state;
    mst_stopwatch_start(&status.wait);
    time_now += 5 * SECOND;
    mst_stopwatch_stop(&status.wait); /* for the others to come */
    mst_task_status_begin(&status, MST_TASK_TRAINS);
    mst_stopwatch_start(&status.data);
    time_now += 2;
    mst_stopwatch_stop(&status.data);
    mst_stopwatch_start(&status.wait);
    time_now += 3;
    mst_stopwatch_stop(&status.wait);
    time_now += 10;
    mst_task_status_step(&status, 7, 40);
    mst_task_status_step(&status, 8, 30);
    const mst_task_report r = report();
    assert_true(r.doing == MST_TASK_TRAINS && r.step == 8 && r.examples == 70);
    assert_true(r.elapsed == 15 && r.data == 2 && r.wait == 3);
}

static void task_that_waits_for_a_while_says_so(void **state) {
    (void)state;
    mst_task_status_begin(&status, MST_TASK_TRAINS);
    mst_stopwatch_start(&status.wait);
    time_now += SECOND / 2;
    assert_int_equal(report().doing, MST_TASK_TRAINS); /* each step waits for the others */
    time_now += SECOND;
    assert_int_equal(report().doing, MST_TASK_WAITS);
    assert_int_equal(report().wait, 3 * SECOND / 2); /* also before it ends */
    mst_task_status_wait_for(&status, "worker:0\033 at b:2");
    const mst_task_report r = report();
    assert_int_equal(r.whom_bytes, 16);
    assert_memory_equal(r.whom, "worker:0? at b:2", 16);
    mst_task_status_wait_for(&status, "");
    mst_stopwatch_stop(&status.wait);
    assert_int_equal(report().doing, MST_TASK_TRAINS);
}

static void what_it_does_is_told(void **state) {
    (void)state;
    mst_task_status_begin(&status, MST_TASK_TRAINS);
    mst_task_status_set(&status, MST_TASK_VALIDATES);
    assert_int_equal(report().doing, MST_TASK_VALIDATES);
    mst_task_status_set(&status, MST_TASK_DONE);
    mst_stopwatch_start(&status.wait);
    time_now += 10 * SECOND; /* until the others are done, too */
    assert_int_equal(report().doing, MST_TASK_DONE);
    mst_stopwatch_stop(&status.wait);
    mst_task_status_begin(&status, MST_TASK_SERVES);
    assert_int_equal(report().examples, -1);
    assert_int_equal(report().data, -1);
    mst_task_status_begin(NULL, MST_TASK_TRAINS);
    mst_task_status_set(NULL, MST_TASK_DONE);
    mst_task_status_step(NULL, 1, 1);
    mst_task_status_wait_for(NULL, "");
}

static void expect_doing(const char *wanted) {
    const mst_transport_report reporter = mst_task_status_reporter(&status);
    char text[MST_TRANSPORT_DOING];
    reporter.doing(reporter.context, text);
    assert_string_equal(text, wanted);
}

static void what_it_does_goes_with_signs_of_life(void **state) {
    (void)state;
    mst_group_progress exchange = {.count = 9, .run = 7, .stream = 2, .at = time_now};
    expect_doing("prepared");
    mst_task_status_begin(&status, MST_TASK_TRAINS);
    mst_task_status_step(&status, 7, 40);
    expect_doing("trained, had made step 7");
    mst_task_status_exchange(&status, &exchange);
    time_now += SECOND;
    expect_doing("trained, had made step 7, and had come to exchange 2 of run 7 1.0 s before");
    exchange = (mst_group_progress){.count = 10, .run = 7, .stream = 3, .at = time_now, .name = "vote"};
    mst_task_status_exchange(&status, &exchange);
    expect_doing("trained, had made step 7, and had come to exchange 3 of run 7 (vote) 0.0 s before");
    exchange = (mst_group_progress){.count = UINT64_MAX, .run = UINT64_MAX, .stream = UINT32_MAX};
    mst_task_status_exchange(&status, &exchange);
    mst_task_status_step(&status, INT64_MAX, 40);
    mst_task_status_wait_for(&status, "worker:0 at a-host-with-a-rather-long-name.example:2");
    time_now = INT64_MAX / 2;
    const mst_transport_report reporter = mst_task_status_reporter(&status);
    char text[MST_TRANSPORT_DOING];
    reporter.doing(reporter.context, text);
    assert_true(strlen(text) < sizeof text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(task_knows_all_tasks_and_has_no_times_before_it_trains, open_status,
                                        close_status),
        cmocka_unit_test_setup_teardown(times_and_examples_count_from_the_beginning_of_training, open_status,
                                        close_status),
        cmocka_unit_test_setup_teardown(task_that_waits_for_a_while_says_so, open_status, close_status),
        cmocka_unit_test_setup_teardown(what_it_does_is_told, open_status, close_status),
        cmocka_unit_test_setup_teardown(what_it_does_goes_with_signs_of_life, open_status, close_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
