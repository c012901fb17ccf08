/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "support/expect.h"
#include "support/pipeline.h"

enum { ROWS = 103, SIZE = 10, MOST = 1000 };

static mst_dataset *batches(void) {
    mst_dataset *all = pipeline_numbers(ROWS), *made;
    EXPECT_OK(pipeline_replace(&all, mst_dataset_shuffle(all, NULL, &made), &made));
    EXPECT_OK(pipeline_replace(&all, mst_dataset_batch(all, SIZE, false, &made), &made));
    return all;
}

static void prefetched_batches_are_the_same_batches(void **state) {
    (void)state;
    int64_t plain[MOST], ahead[MOST], num_plain, num_ahead;
    for (int64_t n = 1; n <= 20; n += 3) {
        mst_dataset *all = batches(), *made;
        int64_t count = pipeline_rows(all, 2, plain, MOST, &num_plain);
        EXPECT_OK(pipeline_replace(&all, mst_dataset_prefetch(all, n, &made), &made));
        assert_int_equal(pipeline_rows(all, 2, ahead, MOST, &num_ahead), count);
        assert_int_equal(num_plain, num_ahead);
        assert_memory_equal(plain, ahead, (size_t)count * sizeof *plain);
        mst_dataset_release(all);
    }
}

static void skip_repeat_and_scale_behind_a_prefetch_work(void **state) {
    (void)state;
    int64_t plain[MOST], ahead[MOST];
    mst_dataset *all = batches(), *first = batches(), *made;
    EXPECT_OK(pipeline_replace(&all, mst_dataset_repeat(all, 3, &made), &made));
    EXPECT_OK(pipeline_replace(&first, mst_dataset_prefetch(first, 2, &made), &made));
    EXPECT_OK(pipeline_replace(&first, mst_dataset_repeat(first, 3, &made), &made));
    EXPECT_OK(pipeline_replace(&first, mst_dataset_prefetch(first, 1, &made), &made));
    for (int64_t n = 0; n < 36; n++) {
        int64_t count = pipeline_rows_after(all, 1, n, plain, MOST);
        assert_int_equal(pipeline_rows_after(first, 1, n, ahead, MOST), count);
        if (count) assert_memory_equal(plain, ahead, (size_t)count * sizeof *plain);
    }
    EXPECT_OK(pipeline_replace(&first, mst_dataset_scale(first, 0, MST_F32, 0.5, &made), &made));
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

static void failure_ahead_comes_in_its_place_with_its_message(void **state) {
    (void)state;
    mst_dataset *all = pipeline_numbers(ROWS), *made;
    mst_iterator *it;
    const mst_batch *batch;
    mst_spec spec = {MST_I64, MST_SHAPE(2)};
    EXPECT_OK(pipeline_replace(&all, mst_dataset_map(all, dislike_seven, NULL, &spec, 1, &made), &made));
    EXPECT_OK(pipeline_replace(&all, mst_dataset_batch(all, 2, false, &made), &made));
    EXPECT_OK(pipeline_replace(&all, mst_dataset_prefetch(all, 10, &made), &made));
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
    mst_dataset *all = pipeline_numbers(ROWS), *made;
    mst_iterator *it;
    mst_spec spec = {MST_I64, MST_SHAPE(2)};
    EXPECT_OK(pipeline_replace(&all, mst_dataset_batch(all, SIZE, false, &made), &made));
    EXPECT_OK(pipeline_replace(&all, mst_dataset_map(all, count_rows, &count, &spec, 1, &made), &made));
    EXPECT_OK(pipeline_replace(&all, mst_dataset_prefetch(all, 3, &made), &made));
    EXPECT_OK(mst_iterator_create(all, 0, &it));
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < 1000 && count < 3 * SIZE; i++) nanosleep(&pause, NULL);
    assert_true(count >= 3 * SIZE);
    for (int i = 0; i < 5; i++) nanosleep(&pause, NULL);
    assert_true(count <= 4 * SIZE);
    mst_iterator_destroy(it); /* also in the middle */
    mst_dataset_release(all);
}

static void wrong_prefetches_are_named(void **state) {
    (void)state;
    mst_dataset *rows = pipeline_numbers(3), *all = batches(), *out;
    EXPECT_ERROR(mst_dataset_prefetch(all, 0, &out), MST_INVALID, "n is 0");
    EXPECT_ERROR(mst_dataset_prefetch(all, INT64_MAX, &out), MST_INVALID, "no memory holds");
    EXPECT_ERROR(mst_dataset_prefetch(rows, 2, &out), MST_INVALID, "put prefetch after batch");
    assert_null(out);
    mst_dataset_release(rows);
    mst_dataset_release(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefetched_batches_are_the_same_batches),
        cmocka_unit_test(skip_repeat_and_scale_behind_a_prefetch_work),
        cmocka_unit_test(failure_ahead_comes_in_its_place_with_its_message),
        cmocka_unit_test(batches_are_made_ahead_and_no_more_than_asked_for),
        cmocka_unit_test(wrong_prefetches_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
