/* Batches that threads make in advance: the same batches in the same order, errors at their turn, and an end that does
 * not wait. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "device/device.h"
#include "support/expect.h"
#include "support/pipeline.h"

enum { ROWS = 103, SIZE = 10, MOST = 1000 };

static mst_dataset *batches(void) {
    mst_dataset *all = pipeline_numbers(ROWS);
    THEN(all, mst_dataset_shuffle(all, NULL, &made));
    THEN(all, mst_dataset_batch(all, SIZE, false, &made));
    return all;
}

static void prefetched_batches_are_the_same_batches(void **state) {
    (void)state;
    int64_t plain[MOST], ahead[MOST], num_plain, num_ahead;
    for (int64_t n = MST_AUTOTUNE; n <= 20; n += n < 0 ? 2 : 3) {
        mst_dataset *all = batches();
        int64_t count = pipeline_rows(all, 2, plain, MOST, &num_plain);
        THEN(all, mst_dataset_prefetch(all, n, &made));
        assert_int_equal(pipeline_rows(all, 2, ahead, MOST, &num_ahead), count);
        assert_int_equal(num_plain, num_ahead);
        assert_memory_equal(plain, ahead, (size_t)count * sizeof *plain);
        mst_dataset_release(all);
    }
}

static void skip_repeat_and_scale_behind_a_prefetch_work(void **state) {
    (void)state;
    int64_t plain[MOST], ahead[MOST];
    mst_dataset *all = batches(), *first = batches();
    THEN(all, mst_dataset_repeat(all, 3, &made));
    THEN(first, mst_dataset_prefetch(first, 2, &made));
    THEN(first, mst_dataset_repeat(first, 3, &made));
    THEN(first, mst_dataset_prefetch(first, 1, &made));
    for (int64_t n = 0; n < 36; n++) {
        int64_t count = pipeline_rows_after(all, 1, n, plain, MOST);
        assert_int_equal(pipeline_rows_after(first, 1, n, ahead, MOST), count);
        if (count) assert_memory_equal(plain, ahead, (size_t)count * sizeof *plain);
    }
    THEN(first, mst_dataset_scale(first, 0, MST_F32, 0.5, &made));
    mst_iterator *it;
    const mst_batch *batch;
    float value[2 * SIZE];
    EXPECT_OK(mst_iterator_create(first, 1, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_OK(mst_iterator_skip(it, 4));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_OK(mst_batch_copy(batch, 0, 0, SIZE, value));
    pipeline_rows_after(all, 1, 5, plain, SIZE);
    for (int i = 0; i < SIZE; i++) assert_true(value[2 * i] == (float)plain[i] * 5);
    mst_iterator_destroy(it);
    mst_dataset_release(all);
    mst_dataset_release(first);
}

static mst_status dislike_seven(const mst_array *in, mst_array *out, void *context) {
    (void)context;
    if (*(const int64_t *)in[0].data == 70) return MST_FAIL(MST_CORRUPT, "row is not liked");
    memcpy(out[0].data, in[0].data, 16);
    return MST_OK;
}

static void failure_of_a_batch_made_ahead_is_told_when_its_turn_comes(void **state) {
    (void)state;
    mst_dataset *all = pipeline_numbers(ROWS);
    mst_iterator *it;
    const mst_batch *batch;
    mst_spec spec = {MST_I64, MST_SHAPE(2)};
    THEN(all, mst_dataset_map(all, dislike_seven, NULL, &spec, 1, &made));
    THEN(all, mst_dataset_batch(all, 2, false, &made));
    THEN(all, mst_dataset_prefetch(all, 10, &made));
    EXPECT_OK(mst_iterator_create(all, 0, &it));
    for (int64_t i = 0; i < 3; i++) {
        int64_t value[4];
        EXPECT_OK(mst_iterator_next(it, &batch));
        EXPECT_OK(mst_batch_copy(batch, 0, 0, 2, value));
        assert_int_equal(value[0], 20 * i);
    }
    for (int i = 0; i < 2; i++) {
        EXPECT_ERROR(mst_iterator_next(it, &batch), MST_CORRUPT, "map of row 7: row is not liked");
        assert_null(batch);
    }
    mst_iterator_destroy(it);
    mst_dataset_release(all);
}

static mst_status count_rows(const mst_array *in, mst_array *out, void *context) {
    atomic_fetch_add((atomic_int *)context, 1);
    memcpy(out[0].data, in[0].data, 16);
    return MST_OK;
}

static void batches_are_made_ahead_and_no_more_than_asked_for(void **state) {
    (void)state;
    atomic_int count = 0;
    mst_dataset *all = pipeline_numbers(ROWS);
    mst_iterator *it;
    mst_spec spec = {MST_I64, MST_SHAPE(2)};
    THEN(all, mst_dataset_batch(all, SIZE, false, &made));
    THEN(all, mst_dataset_map(all, count_rows, &count, &spec, 1, &made));
    THEN(all, mst_dataset_prefetch(all, 3, &made));
    EXPECT_OK(mst_iterator_create(all, 0, &it));
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < 1000 && count < 3 * SIZE; i++) nanosleep(&pause, NULL);
    assert_true(count >= 3 * SIZE);
    for (int i = 0; i < 5; i++) nanosleep(&pause, NULL);
    assert_true(count <= 4 * SIZE);
    mst_iterator_destroy(it); /* also in the middle */
    mst_dataset_release(all);
}

/* A map that, while SLOW, takes 20 ms for the first row of each batch, except in the first two batches. */
typedef struct tuned_map {
    atomic_int calls;
    atomic_bool slow;
} tuned_map;

static mst_status sometimes_slow(const mst_array *in, mst_array *out, void *context) {
    tuned_map *m = context;
    const int64_t row = *(const int64_t *)in[0].data / 10;
    if (m->slow && row >= 2 * SIZE && row % SIZE == 0) nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    return count_rows(in, out, &m->calls);
}

static void an_automatic_depth_grows_where_the_caller_waits(void **state) {
    (void)state;
    tuned_map m = {.slow = true};
    mst_dataset *all = pipeline_numbers(SIZE * 20);
    mst_iterator *it, *again;
    const mst_batch *batch;
    mst_tensor *position;
    int64_t value[2 * SIZE];
    const mst_spec spec = {MST_I64, MST_SHAPE(2)};
    const struct timespec pause = {.tv_nsec = 10000000};
    THEN(all, mst_dataset_batch(all, SIZE, false, &made));
    THEN(all, mst_dataset_map(all, sometimes_slow, &m, &spec, 1, &made));
    THEN(all, mst_dataset_prefetch(all, MST_AUTOTUNE, &made));
    EXPECT_OK(mst_iterator_create(all, 0, &it));
    for (int i = 0; i < 1000 && m.calls < 2 * SIZE; i++) nanosleep(&pause, NULL);
    for (int i = 0; i < 5; i++) nanosleep(&pause, NULL);
    assert_int_equal(m.calls, 2 * SIZE); /* at first it makes the batch that is asked for next, and one more */
    enum { TAKEN = 10 };
    for (int64_t i = 0; i < TAKEN; i++) {
        EXPECT_OK(mst_iterator_next(it, &batch));
        EXPECT_OK(mst_batch_copy(batch, 0, 0, SIZE, value));
        assert_int_equal(value[0], 10 * SIZE * i);
    }
    m.slow = false;
    for (int i = 0; i < 1000 && m.calls < (TAKEN + 2) * SIZE; i++) nanosleep(&pause, NULL);
    assert_true(m.calls >= (TAKEN + 2) * SIZE);
    EXPECT_OK(mst_iterator_save(it, &position));
    mst_iterator_destroy(it);
    EXPECT_OK(mst_iterator_restore(all, position, &again));
    mst_tensor_release(position);
    EXPECT_OK(mst_iterator_next(again, &batch));
    EXPECT_OK(mst_batch_copy(batch, 0, 0, SIZE, value));
    assert_int_equal(value[0], 10 * SIZE * TAKEN);
    mst_iterator_destroy(again);
    mst_dataset_release(all);
}

/* ---- several threads ---- */

/* A map that takes a millisecond per row. One thread maps the first row, to measure it. After that, rows take longer
 * until WANTED threads have been inside at the same time: on a busy machine a thread may take a while to come. */
typedef struct slow_map {
    atomic_int inside, most_inside, calls;
    int wanted;
} slow_map;

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static mst_status take_a_millisecond(const mst_array *in, mst_array *out, void *context) {
    slow_map *m = context;
    const int inside = atomic_fetch_add(&m->inside, 1) + 1;
    int most = atomic_load(&m->most_inside);
    while (inside > most && !atomic_compare_exchange_weak(&m->most_inside, &most, inside)) continue;
    for (int i = 0; i == 0 || (i < 10000 && m->calls && m->most_inside < m->wanted); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    memcpy(out[0].data, in[0].data, 16);
    *(uint8_t *)out[1].data = *(const uint8_t *)in[1].data;
    atomic_fetch_add(&m->calls, 1);
    atomic_fetch_sub(&m->inside, 1);
    return MST_OK;
}

/* Numbers in batches of SIZE, mapped before batch (ROWS) or after it, and prefetched by THREADS threads. */
static mst_dataset *slow_batches(slow_map *m, int64_t num_rows, int64_t size, bool rows, int64_t threads) {
    const mst_spec specs[] = {{MST_I64, MST_SHAPE(2)}, {MST_U8, MST_SCALAR}};
    const mst_prefetch_options options = {.threads = threads};
    mst_dataset *all = pipeline_numbers(num_rows);
    if (rows) THEN(all, mst_dataset_map(all, take_a_millisecond, m, specs, 2, &made));
    THEN(all, mst_dataset_batch(all, size, false, &made));
    if (!rows) THEN(all, mst_dataset_map(all, take_a_millisecond, m, specs, 2, &made));
    THEN(all, mst_dataset_prefetch_with(all, 2, &options, &made));
    return all;
}

static void threads_map_at_the_same_time_and_the_order_stays(void **state) {
    (void)state;
    for (int64_t threads = 1; threads <= 4; threads++) {
        for (int rows = 0; rows < 2; rows++) {
            slow_map m = {.wanted = threads > 1 ? 2 : 1};
            int64_t row[MOST];
            mst_dataset *all = slow_batches(&m, 300, 60, rows, threads);
            assert_int_equal(pipeline_rows(all, 0, row, MOST, NULL), 300);
            for (int64_t i = 0; i < 300; i++) assert_int_equal(row[i], i);
            if (threads == 1) assert_int_equal(m.most_inside, 1);
            if (threads > 1) assert_in_range(m.most_inside, 2, threads);
            assert_int_equal(m.calls, 300); /* once a row */
            mst_dataset_release(all);
        }
    }
}

static mst_status dislike_some(const mst_array *in, mst_array *out, void *context) {
    const int64_t row = *(const int64_t *)in[0].data / 10;
    if (row == 41 || row == 43 || row == 57) return MST_FAIL(MST_CORRUPT, "row %d is not liked", (int)row);
    return take_a_millisecond(in, out, context);
}

static void the_first_failure_of_several_threads_is_told(void **state) {
    (void)state;
    slow_map m = {0};
    mst_iterator *it;
    const mst_batch *batch;
    const mst_spec specs[] = {{MST_I64, MST_SHAPE(2)}, {MST_U8, MST_SCALAR}};
    mst_dataset *all = pipeline_numbers(100);
    THEN(all, mst_dataset_map(all, dislike_some, &m, specs, 2, &made));
    THEN(all, mst_dataset_batch(all, 20, false, &made));
    const mst_prefetch_options options = {.threads = 4};
    THEN(all, mst_dataset_prefetch_with(all, 1, &options, &made));
    EXPECT_OK(mst_iterator_create(all, 0, &it));
    for (int i = 0; i < 2; i++) EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_ERROR(mst_iterator_next(it, &batch), MST_CORRUPT, "row 41 is not liked");
    mst_iterator_destroy(it);
    mst_dataset_release(all);
}

static mst_status see_cores(const mst_array *in, mst_array *out, void *context) {
    cpu_set_t set;
    (void)in;
    memset(out[0].data, 0, 16);
    *(uint8_t *)out[1].data = 0;
    if (sched_getaffinity(0, sizeof set, &set) == 0) *(int *)context = CPU_COUNT(&set);
    return MST_OK;
}

/* A session with pin_threads binds the thread that calls it, and a new thread has the binding of the one that starts
 * it. */
static void threads_of_a_prefetch_are_not_bound_to_a_devices_cores(void **state) {
    (void)state;
    int before = 0, inside = 0;
    cpu_set_t set;
    mst_iterator *it;
    const mst_batch *batch;
    const mst_spec specs[] = {{MST_I64, MST_SHAPE(2)}, {MST_U8, MST_SCALAR}};
    mst_dataset *all = pipeline_numbers(10);
    THEN(all, mst_dataset_map(all, see_cores, &inside, specs, 2, &made));
    THEN(all, mst_dataset_batch(all, 10, false, &made));
    THEN(all, mst_dataset_prefetch(all, 1, &made));
    void *binding = mst_save_binding();
    if (sched_getaffinity(0, sizeof set, &set) == 0) before = CPU_COUNT(&set);
    EXPECT_OK(mst_bind_thread(0, 1));
    EXPECT_OK(mst_iterator_create(all, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    mst_restore_binding(binding, true);
    assert_int_equal(inside, before);
    mst_iterator_destroy(it);
    mst_dataset_release(all);
}

/* ---- ended in the middle ---- */

/* Destroys an iterator over ALL when N rows have been mapped; that must not wait for the batch. Releases ALL. */
static void expect_quick_end(mst_dataset *all, const slow_map *m, int n) {
    mst_iterator *it;
    EXPECT_OK(mst_iterator_create(all, 0, &it));
    for (int i = 0; i < 10000 && m->calls < n; i++) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_true(m->calls >= n);
    const double begun = seconds();
    mst_iterator_destroy(it);
    const double took = seconds() - begun;
    if (took > 5) fail_msg("it took %g s to end", took);
    mst_dataset_release(all);
}

/* A batch of these takes 20 s. */
static void a_pipeline_ends_at_once_while_its_map_runs(void **state) {
    (void)state;
    for (int64_t threads = 1; threads <= 3; threads += 2) {
        for (int nested = 0; nested < 2; nested++) {
            slow_map m = {0};
            mst_dataset *all = slow_batches(&m, 20000, 20000, true, threads);
            if (nested) THEN(all, mst_dataset_prefetch(all, 2, &made));
            expect_quick_end(all, &m, 10);
        }
    }
}

/* The map runs inside a padded batch here, which asks for its rows one by one. */
static void a_pipeline_ends_at_once_while_its_batch_is_padded(void **state) {
    (void)state;
    const mst_spec specs[] = {{MST_I64, MST_SHAPE(2)}, {MST_U8, MST_SCALAR}};
    slow_map m = {0};
    mst_dataset *all = pipeline_numbers(20000);
    THEN(all, mst_dataset_map(all, take_a_millisecond, &m, specs, 2, &made));
    THEN(all, mst_dataset_padded_batch(all, 20000, false, NULL, &made));
    THEN(all, mst_dataset_prefetch(all, 2, &made));
    expect_quick_end(all, &m, 10);
}

static mst_status keep_none(const mst_array *in, bool *keep, void *context) {
    (void)in;
    *keep = false;
    atomic_fetch_add(&((slow_map *)context)->calls, 1);
    return MST_OK;
}

static void a_pipeline_ends_at_once_while_its_filter_finds_nothing(void **state) {
    (void)state;
    slow_map m = {0};
    mst_dataset *all = pipeline_numbers(3);
    THEN(all, mst_dataset_repeat(all, INT64_MAX / 4, &made));
    THEN(all, mst_dataset_filter(all, keep_none, &m, &made));
    THEN(all, mst_dataset_batch(all, 3, false, &made));
    THEN(all, mst_dataset_prefetch(all, 3, &made));
    expect_quick_end(all, &m, 1000);
}

static void wrong_prefetches_are_named(void **state) {
    (void)state;
    mst_dataset *rows = pipeline_numbers(3), *all = batches(), *out;
    EXPECT_ERROR(mst_dataset_prefetch(all, 0, &out), MST_INVALID, "n is 0, it must be at least 1, or MST_AUTOTUNE");
    EXPECT_ERROR(mst_dataset_prefetch(all, -2, &out), MST_INVALID, "n is -2");
    EXPECT_ERROR(mst_dataset_prefetch(all, INT64_MAX, &out), MST_INVALID, "no memory holds");
    EXPECT_ERROR(mst_dataset_prefetch(rows, 2, &out), MST_INVALID, "put prefetch after batch");
    const mst_prefetch_options fewer = {.threads = -1}, more = {.threads = 1 << 20};
    EXPECT_ERROR(mst_dataset_prefetch_with(all, 2, &fewer, &out), MST_INVALID, "threads is -1");
    EXPECT_ERROR(mst_dataset_prefetch_with(all, 2, &more, &out), MST_INVALID, "threads is 1048576");
    assert_null(out);
    mst_dataset_release(rows);
    mst_dataset_release(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefetched_batches_are_the_same_batches),
        cmocka_unit_test(skip_repeat_and_scale_behind_a_prefetch_work),
        cmocka_unit_test(failure_of_a_batch_made_ahead_is_told_when_its_turn_comes),
        cmocka_unit_test(batches_are_made_ahead_and_no_more_than_asked_for),
        cmocka_unit_test(an_automatic_depth_grows_where_the_caller_waits),
        cmocka_unit_test(threads_map_at_the_same_time_and_the_order_stays),
        cmocka_unit_test(the_first_failure_of_several_threads_is_told),
        cmocka_unit_test(threads_of_a_prefetch_are_not_bound_to_a_devices_cores),
        cmocka_unit_test(a_pipeline_ends_at_once_while_its_map_runs),
        cmocka_unit_test(a_pipeline_ends_at_once_while_its_batch_is_padded),
        cmocka_unit_test(a_pipeline_ends_at_once_while_its_filter_finds_nothing),
        cmocka_unit_test(wrong_prefetches_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
