/* Shuffles: permutations that depend only on seed and epoch, and buffers that hold only a part of the rows. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/expect.h"
#include "support/pipeline.h"

enum { MOST = 4096 };

static mst_dataset *shuffled(int64_t num_rows, mst_shuffle_options options) {
    mst_dataset *all = pipeline_numbers(num_rows), *mixed;
    EXPECT_OK(mst_dataset_shuffle(all, &options, &mixed));
    mst_dataset_release(all);
    return mixed;
}

static void expect_permutation(const int64_t *rows, int64_t count, int64_t num_rows) {
    bool seen[MOST] = {false};
    assert_int_equal(count, num_rows);
    for (int64_t i = 0; i < count; i++) {
        assert_in_range(rows[i], 0, num_rows - 1);
        assert_false(seen[rows[i]]);
        seen[rows[i]] = true;
    }
}

static bool in_order(const int64_t *rows, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (rows[i] != i) return false;
    return true;
}

static void shuffle_is_a_permutation_for_any_size_and_buffer(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 2, 3, 10, 257, 1000}, buffers[] = {0, 1, 2, 7, 100, 999, 1000, 5000};
    int64_t rows[MOST];
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 8; j++) {
            mst_dataset *mixed = shuffled(sizes[i], (mst_shuffle_options){.buffer_size = buffers[j], .seed = 5});
            assert_int_equal(mst_dataset_cardinality(mixed), sizes[i]);
            expect_permutation(rows, pipeline_rows(mixed, 3, rows, MOST, NULL), sizes[i]);
            if (sizes[i] >= 257) assert_int_equal(in_order(rows, sizes[i]), buffers[j] == 1);
            mst_dataset_release(mixed);
        }
    }
}

static void order_depends_only_on_seed_and_epoch(void **state) {
    (void)state;
    enum { ROWS = 300 };
    static const int64_t buffers[] = {0, 50};
    for (int j = 0; j < 2; j++) {
        int64_t first[ROWS], again[ROWS], other_epoch[ROWS], other_seed[ROWS];
        mst_dataset *a = shuffled(ROWS, (mst_shuffle_options){.buffer_size = buffers[j], .seed = 1});
        mst_dataset *b = shuffled(ROWS, (mst_shuffle_options){.buffer_size = buffers[j], .seed = 1});
        mst_dataset *c = shuffled(ROWS, (mst_shuffle_options){.buffer_size = buffers[j], .seed = 2});
        pipeline_rows(a, 4, first, ROWS, NULL);
        pipeline_rows(a, 5, other_epoch, ROWS, NULL);
        pipeline_rows(b, 4, again, ROWS, NULL);
        pipeline_rows(c, 4, other_seed, ROWS, NULL);
        assert_memory_equal(first, again, sizeof first);
        assert_memory_not_equal(first, other_epoch, sizeof first);
        assert_memory_not_equal(first, other_seed, sizeof first);
        mst_dataset_release(a);
        mst_dataset_release(b);
        mst_dataset_release(c);
    }
}

static void same_each_epoch_keeps_the_order_of_epoch_0(void **state) {
    (void)state;
    enum { ROWS = 100 };
    int64_t first[ROWS], later[ROWS];
    mst_dataset *mixed = shuffled(ROWS, (mst_shuffle_options){.seed = 1, .same_each_epoch = true});
    mst_dataset *plain = shuffled(ROWS, (mst_shuffle_options){.seed = 1});
    pipeline_rows(plain, 0, first, ROWS, NULL);
    pipeline_rows(mixed, 9, later, ROWS, NULL);
    assert_memory_equal(first, later, sizeof first);
    mst_dataset_release(mixed);
    mst_dataset_release(plain);
}

/* tf.data: the buffer holds the next rows of the input; one of them, each as likely, goes out, and the next row in
 * takes its place. So the k-th row out is one of the first k + buffer_size in, and a row can stay arbitrarily long. */
static void buffer_holds_the_next_rows_of_the_input(void **state) {
    (void)state;
    enum { ROWS = 2000, BUFFER = 20 };
    int64_t rows[ROWS], late = 0, jumps[BUFFER] = {0};
    mst_dataset *mixed = shuffled(ROWS, (mst_shuffle_options){.buffer_size = BUFFER});
    for (int64_t epoch = 0; epoch < 20; epoch++) {
        pipeline_rows(mixed, epoch, rows, ROWS, NULL);
        for (int64_t i = 0; i < ROWS; i++) {
            assert_true(rows[i] < i + BUFFER);
            late += rows[i] < i - BUFFER;
        }
        jumps[rows[0]]++;
    }
    assert_true(late > 0);
    int different = 0;
    for (int i = 0; i < BUFFER; i++) different += jumps[i] > 0;
    assert_true(different > 5);
    mst_dataset_release(mixed);
}

static void every_order_of_three_rows_comes_about_equally_often(void **state) {
    (void)state;
    enum { EPOCHS = 6000 };
    static const int64_t buffers[] = {0, 3};
    for (int j = 0; j < 2; j++) {
        int count[27] = {0};
        mst_dataset *mixed = shuffled(3, (mst_shuffle_options){.buffer_size = buffers[j]});
        for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
            int64_t rows[3];
            assert_int_equal(pipeline_rows(mixed, epoch, rows, 3, NULL), 3);
            count[rows[0] * 9 + rows[1] * 3 + rows[2]]++;
        }
        for (int i = 0; i < 27; i++) /* 1000 expected, standard deviation 29 */
            if (count[i]) assert_in_range(count[i], 850, 1150);
        mst_dataset_release(mixed);
    }
}

static void skipping_gives_the_rest_of_the_same_order(void **state) {
    (void)state;
    enum { ROWS = 100 };
    static const int64_t buffers[] = {0, 10};
    for (int j = 0; j < 2; j++) {
        int64_t rows[ROWS], rest[ROWS];
        mst_dataset *mixed = shuffled(ROWS, (mst_shuffle_options){.buffer_size = buffers[j]});
        pipeline_rows(mixed, 2, rows, ROWS, NULL);
        for (int64_t n = 0; n < ROWS; n += 17) {
            assert_int_equal(pipeline_rows_after(mixed, 2, n, rest, ROWS), ROWS - n);
            assert_memory_equal(rest, rows + n, (size_t)(ROWS - n) * sizeof *rows);
        }
        assert_int_equal(pipeline_rows_after(mixed, 2, ROWS, rest, ROWS), 0);
        assert_int_equal(pipeline_rows_after(mixed, 2, INT64_MAX, rest, ROWS), 0);
        mst_dataset_release(mixed);
    }
}

static void wrong_options_are_named(void **state) {
    (void)state;
    mst_dataset *all = pipeline_numbers(4), *batches, *endless, *out;
    EXPECT_OK(mst_dataset_batch(all, 2, false, &batches));
    EXPECT_OK(mst_dataset_repeat(all, -1, &endless));
    EXPECT_ERROR(mst_dataset_shuffle(all, &(mst_shuffle_options){.buffer_size = -1}, &out), MST_INVALID,
                 "buffer_size is -1");
    assert_null(out);
    EXPECT_ERROR(mst_dataset_shuffle(batches, NULL, &out), MST_INVALID, "put shuffle before batch");
    EXPECT_ERROR(mst_dataset_shuffle(endless, NULL, &out), MST_INVALID, "endless");
    EXPECT_OK(mst_dataset_shuffle(endless, &(mst_shuffle_options){.buffer_size = 3}, &out));
    assert_int_equal(mst_dataset_cardinality(out), MST_INFINITE);
    mst_dataset_release(out);
    mst_dataset_release(all);
    mst_dataset_release(batches);
    mst_dataset_release(endless);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffle_is_a_permutation_for_any_size_and_buffer),
        cmocka_unit_test(order_depends_only_on_seed_and_epoch),
        cmocka_unit_test(same_each_epoch_keeps_the_order_of_epoch_0),
        cmocka_unit_test(buffer_holds_the_next_rows_of_the_input),
        cmocka_unit_test(every_order_of_three_rows_comes_about_equally_often),
        cmocka_unit_test(skipping_gives_the_rest_of_the_same_order),
        cmocka_unit_test(wrong_options_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
