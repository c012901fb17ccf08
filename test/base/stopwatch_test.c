/* Stopwatches: time in which several threads do the same counts once. */
#include "base/stopwatch.h"

#include "base/clock.h"
#include "support/test.h"

static int64_t time_now;
static int64_t stopped_clock(void) {
    return time_now;
}

static void expect(mst_stopwatch *watch, int64_t total, int64_t present) {
    int64_t read_present;
    assert_int_equal(mst_stopwatch_read(watch, time_now, &read_present), total);
    assert_int_equal(read_present, present);
}

static void time_that_several_threads_spend_at_once_counts_once(void **state) {
    (void)state;
    mst_stopwatch watch;
    mst_clock_replace(stopped_clock);
    time_now = 100;
    mst_stopwatch_init(&watch);
    expect(&watch, 0, 0);
    mst_stopwatch_start(&watch);
    time_now = 110;
    mst_stopwatch_start(&watch);
    expect(&watch, 10, 10);
    time_now = 130;
    mst_stopwatch_stop(&watch);
    time_now = 135;
    expect(&watch, 35, 35);
    mst_stopwatch_stop(&watch);
    time_now = 200;
    expect(&watch, 35, 0);
    mst_stopwatch_start(&watch);
    time_now = 207;
    expect(&watch, 42, 7);
    mst_stopwatch_reset(&watch);
    time_now = 210;
    expect(&watch, 3, 3);
    mst_stopwatch_stop(&watch);
    mst_stopwatch_start(NULL);
    mst_stopwatch_stop(NULL);
    mst_stopwatch_destroy(&watch);
    mst_clock_replace(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(time_that_several_threads_spend_at_once_counts_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
