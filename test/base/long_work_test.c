/* Long work is told after two seconds, at most once a second, to the thread that watches. */
#include "base/long_work.h"

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/clock.h"

static int64_t seconds10; /* tenths of a second */

static int64_t clock_of_test(void) {
    return seconds10 * 100000000;
}

typedef struct told {
    int count, ended;
    mst_long_work last;
} told;

static void keep(void *context, const mst_long_work *work, bool ended) {
    told *t = context;
    t->count += !ended;
    t->ended += ended;
    t->last = *work;
}

/* STEPS steps of a tenth of a second. */
static void work(int steps) {
    for (int i = 1; i <= steps; i++) {
        seconds10++;
        mst_long_work_step((uint64_t)i);
    }
}

static int set_up(void **state) {
    (void)state;
    seconds10 = 0;
    mst_clock_replace(clock_of_test);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    mst_long_work_watch(NULL, NULL);
    mst_clock_replace(NULL);
    return 0;
}

static void only_long_work_is_told(void **state) {
    (void)state;
    told t = {0};
    mst_long_work_watch(keep, &t);
    mst_long_work_begin(MST_LONG_WORK_READING, "short", NULL, 0);
    work(19);
    mst_long_work_end();
    assert_int_equal(t.count, 0);
    assert_int_equal(t.ended, 0);
    mst_long_work_begin(MST_LONG_WORK_READING, "a\nlong", "files", 100);
    work(52);
    mst_long_work_end();
    assert_int_equal(t.count, 4); /* after 2, 3, 4 and 5 seconds */
    assert_int_equal(t.ended, 1);
    assert_string_equal(t.last.path, "a\\nlong");
    assert_string_equal(t.last.unit, "files");
    assert_int_equal(t.last.done, 52);
    assert_int_equal(t.last.total, 100);
}

static void works_nest(void **state) {
    (void)state;
    told t = {0};
    mst_long_work_watch(keep, &t);
    mst_long_work_begin(MST_LONG_WORK_READING, "outer", "files", 3);
    for (int i = 0; i < 3; i++) {
        mst_long_work_begin(MST_LONG_WORK_READING, "inner", NULL, 0);
        work(15);
        mst_long_work_end();
        mst_long_work_step((uint64_t)i + 1);
    }
    mst_long_work_end();
    assert_int_equal(t.count, 2); /* after 3 and 4.5 seconds */
    assert_string_equal(t.last.path, "outer");
    for (int i = 0; i < 20; i++) mst_long_work_begin(MST_LONG_WORK_READING, "deep", NULL, 0);
    work(50);
    for (int i = 0; i < 20; i++) mst_long_work_end();
    mst_long_work_end(); /* one too many */
    assert_int_equal(t.count, 2);
}

static void bytes_that_are_written_count_for_writing_alone(void **state) {
    (void)state;
    told t = {0};
    mst_long_work_watch(keep, &t);
    seconds10 = 0;
    mst_long_work_begin(MST_LONG_WORK_WRITING, "rows", "rows", 7);
    seconds10 = 100;
    mst_long_work_step_of(MST_LONG_WORK_WRITING, 4096);
    assert_int_equal(t.count, 0);
    mst_long_work_end();
    mst_long_work_begin(MST_LONG_WORK_WRITING, "bytes", NULL, 0);
    seconds10 = 200;
    mst_long_work_step_of(MST_LONG_WORK_WRITING, 4096);
    assert_int_equal(t.count, 1);
    mst_long_work_end();
}

static void *work_elsewhere(void *argument) {
    mst_long_work_begin(MST_LONG_WORK_READING, "elsewhere", NULL, 0);
    work(50);
    mst_long_work_end();
    return argument;
}

static void other_threads_tell_nothing(void **state) {
    (void)state;
    told t = {0};
    pthread_t thread;
    mst_long_work_watch(keep, &t);
    assert_int_equal(pthread_create(&thread, NULL, work_elsewhere, NULL), 0);
    pthread_join(thread, NULL);
    assert_int_equal(t.count, 0);
    mst_long_work_watch(NULL, NULL);
    work_elsewhere(NULL);
    assert_int_equal(t.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_long_work_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(works_nest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_that_are_written_count_for_writing_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_threads_tell_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
