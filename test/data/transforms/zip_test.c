/* Rows of several datasets side by side: their order over epochs, restored positions, and datasets that cannot be
 * zipped. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "muster/dataset.h"
#include "support/expect.h"
#include "support/folder.h"
#include "support/pipeline.h"
#include "support/records.h"
#include "support/varied_rows.h"
#include "tensor/string.h"

enum { MOST = 4096 };

typedef struct pair {
    int64_t left, right;
} pair;

static mst_dataset *zip(mst_dataset *left, mst_dataset *right) {
    mst_dataset *zipped;
    EXPECT_OK(mst_dataset_zip((mst_dataset *[]){left, right}, 2, &zipped));
    mst_dataset_release(left);
    mst_dataset_release(right);
    return zipped;
}

static mst_dataset *shuffled(int64_t rows, int64_t buffer, uint64_t seed) {
    mst_dataset *dataset = pipeline_numbers(rows);
    const mst_shuffle_options options = {.buffer_size = buffer, .seed = seed};
    THEN(dataset, mst_dataset_shuffle(dataset, &options, &made));
    return dataset;
}

/* The rows (of pipeline_numbers) of the first and the last part that are side by side, of the rest of IT. */
static int64_t read_pairs(mst_dataset *dataset, mst_iterator *it, pair *pairs) {
    const mst_batch *batch;
    int64_t n = 0;
    for (;;) {
        int64_t left[2 * MOST], right[2 * MOST];
        EXPECT_OK(mst_iterator_next(it, &batch));
        if (!batch) return n;
        const int64_t rows = mst_batch_size(batch);
        assert_true(n + rows <= MOST);
        EXPECT_OK(mst_batch_copy(batch, 0, 0, rows, left));
        void *dst[6] = {NULL, NULL, NULL, NULL, NULL, NULL};
        dst[mst_dataset_num_components(dataset) - 2] = right;
        EXPECT_OK(mst_batch_copy_all(batch, 0, rows, dst));
        for (int64_t i = 0; i < rows; i++) pairs[n++] = (pair){left[2 * i] / 10, right[2 * i] / 10};
    }
}

static int64_t pairs_of(mst_dataset *dataset, int64_t epoch, pair *pairs) {
    mst_iterator *it;
    EXPECT_OK(mst_iterator_create(dataset, epoch, &it));
    const int64_t n = read_pairs(dataset, it, pairs);
    mst_iterator_destroy(it);
    return n;
}

static void components_are_side_by_side_as_long_as_the_shortest(void **state) {
    (void)state;
    pair pairs[MOST];
    mst_dataset *dataset = zip(pipeline_numbers(7), pipeline_numbers(5));
    assert_int_equal(mst_dataset_num_components(dataset), 4);
    assert_int_equal(mst_dataset_num_rows(dataset), 5);
    assert_true(mst_shape_equal(mst_dataset_spec(dataset, 2).shape, MST_SHAPE(2)));
    assert_int_equal(mst_dataset_spec(dataset, 3).dtype, MST_U8);
    assert_int_equal(pairs_of(dataset, 0, pairs), 5);
    for (int64_t i = 0; i < 5; i++) assert_true(pairs[i].left == i && pairs[i].right == i);
    mst_dataset_release(dataset);
}

static void each_part_keeps_its_own_order(void **state) {
    (void)state;
    pair pairs[MOST];
    int64_t left[MOST], right[MOST];
    mst_dataset *a = shuffled(50, 0, 1), *b = shuffled(60, 8, 2);
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        assert_int_equal(pipeline_rows(a, epoch, left, MOST, NULL), 50);
        assert_int_equal(pipeline_rows(b, epoch, right, MOST, NULL), 60);
        mst_dataset *dataset = zip(mst_dataset_retain(a), mst_dataset_retain(b));
        assert_int_equal(pairs_of(dataset, epoch, pairs), 50);
        for (int64_t i = 0; i < 50; i++) assert_true(pairs[i].left == left[i] && pairs[i].right == right[i]);
        mst_dataset_release(dataset);
    }
    mst_dataset_release(a);
    mst_dataset_release(b);
}

static void pairs_stay_together_behind_a_shuffle_over_epochs(void **state) {
    (void)state;
    for (int full = 0; full < 2; full++) {
        pair pairs[MOST];
        int seen[40] = {0};
        mst_dataset *dataset = zip(pipeline_numbers(40), pipeline_numbers(41));
        THEN(dataset, full ? mst_dataset_shuffle(dataset, NULL, &made) : mst_dataset_repeat(dataset, 3, &made));
        const mst_shuffle_options options = {.buffer_size = 25};
        THEN(dataset, full ? mst_dataset_repeat(dataset, 3, &made) : mst_dataset_shuffle(dataset, &options, &made));
        THEN(dataset, mst_dataset_batch(dataset, 7, false, &made));
        THEN(dataset, mst_dataset_prefetch(dataset, 2, &made));
        assert_int_equal(pairs_of(dataset, 0, pairs), 120);
        for (int64_t i = 0; i < 120; i++) {
            assert_int_equal(pairs[i].left, pairs[i].right);
            seen[pairs[i].left]++;
        }
        for (int i = 0; i < 40; i++) assert_int_equal(seen[i], 3);
        mst_dataset_release(dataset);
    }
}

static mst_dataset *long_pipeline(void) {
    mst_dataset *inner = zip(shuffled(30, 4, 1), shuffled(31, 0, 2)), *other = shuffled(29, 9, 3);
    THEN(inner, mst_dataset_scale(inner, 1, MST_F32, 2, &made));
    THEN(other, mst_dataset_repeat(other, 2, &made));
    mst_dataset *dataset = zip(inner, other);
    THEN(dataset, mst_dataset_repeat(dataset, 3, &made));
    const mst_shuffle_options options = {.buffer_size = 12, .seed = 5};
    THEN(dataset, mst_dataset_shuffle(dataset, &options, &made));
    THEN(dataset, mst_dataset_batch(dataset, 4, false, &made));
    return dataset;
}

static void a_restored_position_goes_on_with_the_same_pairs(void **state) {
    (void)state;
    pair whole[MOST], rest[MOST];
    mst_dataset *first = long_pipeline();
    const int64_t count = pairs_of(first, 0, whole);
    mst_dataset_release(first);
    assert_int_equal(count, 90);
    for (int64_t at = 0; at <= count / 4; at++) {
        mst_dataset *dataset = long_pipeline();
        mst_iterator *it, *again;
        mst_tensor *position;
        const mst_batch *batch;
        EXPECT_OK(mst_iterator_create(dataset, 0, &it));
        for (int64_t i = 0; i < at; i++) EXPECT_OK(mst_iterator_next(it, &batch));
        EXPECT_OK(mst_iterator_save(it, &position));
        EXPECT_OK(mst_iterator_restore(dataset, position, &again));
        assert_int_equal(read_pairs(dataset, again, rest), count - 4 * at);
        assert_memory_equal(rest, whole + 4 * at, (size_t)(count - 4 * at) * sizeof *rest);
        mst_tensor_release(position);
        mst_iterator_destroy(again);
        mst_iterator_destroy(it);
        mst_dataset_release(dataset);
    }
}

/* The buffer of the second shuffle has rows of the first one's permutation, and of its permutation in the previous
 * repetition. */
static mst_dataset *shuffled_twice(bool repeats) {
    mst_dataset *dataset = zip(shuffled(30, 4, 1), shuffled(30, 4, 1));
    const mst_shuffle_options full = {.seed = 7}, buffer = {.buffer_size = 9, .seed = 8};
    THEN(dataset, mst_dataset_shuffle(dataset, &full, &made));
    THEN(dataset, mst_dataset_repeat(dataset, repeats ? 3 : 1, &made));
    THEN(dataset, mst_dataset_shuffle(dataset, &buffer, &made));
    return dataset;
}

/* What IT gives, saved and restored so many TIMES, is the COUNT pairs at EXPECTED. It is destroyed. */
static void expect_rest(mst_dataset *dataset, mst_iterator *it, int times, const pair *expected, int64_t count) {
    pair rest[MOST];
    for (; times > 0; times--) {
        mst_tensor *position;
        EXPECT_OK(mst_iterator_save(it, &position));
        mst_iterator_destroy(it);
        EXPECT_OK(mst_iterator_restore(dataset, position, &it));
        mst_tensor_release(position);
    }
    assert_int_equal(read_pairs(dataset, it, rest), count);
    assert_memory_equal(rest, expected, (size_t)count * sizeof *rest);
    mst_iterator_destroy(it);
}

static void zip_behind_two_shuffles_is_restored_at_every_position(void **state) {
    (void)state;
    pair whole[MOST];
    for (int repeats = 0; repeats < 2; repeats++) {
        mst_dataset *dataset = shuffled_twice(repeats);
        const int64_t count = pairs_of(dataset, 1, whole);
        assert_int_equal(count, repeats ? 90 : 30);
        for (int64_t at = 0; at <= count; at++) {
            mst_iterator *it;
            const mst_batch *batch;
            EXPECT_OK(mst_iterator_create(dataset, 1, &it));
            for (int64_t i = 0; i < at; i++) EXPECT_OK(mst_iterator_next(it, &batch));
            expect_rest(dataset, it, 2, whole + at, count - at); /* also from one that was restored */
        }
        mst_dataset_release(dataset);
    }
}

/* To restore the last permutation takes all rows of the one before, which begins its second pass on the way. */
static mst_dataset *permuted_over_passes(void) {
    const mst_shuffle_options full = {.seed = 7}, buffer = {.buffer_size = 9, .seed = 8};
    mst_dataset *dataset = zip(pipeline_numbers(12), shuffled(12, 4, 1));
    THEN(dataset, mst_dataset_shuffle(dataset, &full, &made));
    THEN(dataset, mst_dataset_repeat(dataset, 2, &made));
    THEN(dataset, mst_dataset_skip(dataset, 5, &made));
    THEN(dataset, mst_dataset_shuffle(dataset, &full, &made));
    THEN(dataset, mst_dataset_shuffle(dataset, &buffer, &made));
    return dataset;
}

/* The last buffer holds rows of the pass before, whose permutation the interleave begins anew on the way. */
static mst_dataset *permuted_parts(void) {
    const mst_shuffle_options full = {.seed = 7}, buffer = {.buffer_size = 9, .seed = 8};
    mst_dataset *dataset = zip(pipeline_numbers(12), shuffled(12, 4, 1));
    THEN(dataset, mst_dataset_shuffle(dataset, &full, &made));
    THEN(dataset, mst_dataset_interleave(&dataset, 1, NULL, &made));
    THEN(dataset, mst_dataset_shuffle(dataset, &full, &made));
    THEN(dataset, mst_dataset_repeat(dataset, 3, &made));
    THEN(dataset, mst_dataset_shuffle(dataset, &buffer, &made));
    return dataset;
}

static void permutations_over_several_passes_are_restored_at_every_position(void **state) {
    (void)state;
    pair whole[MOST];
    for (int kind = 0; kind < 2; kind++) {
        mst_dataset *dataset = kind ? permuted_parts() : permuted_over_passes();
        const int64_t count = pairs_of(dataset, 0, whole);
        assert_int_equal(count, kind ? 36 : 19);
        for (int64_t at = 0; at <= count; at++) {
            mst_iterator *it;
            EXPECT_OK(mst_iterator_create(dataset, 0, &it));
            EXPECT_OK(mst_iterator_skip(it, at));
            expect_rest(dataset, it, 1, whole + at, count - at);
        }
        mst_dataset_release(dataset);
    }
}

/* The position of a zip includes its rows, so it shows whether rows are kept that nobody needs. Here a zip is part of a
 * zip, and the permutation of the second pass keeps their positions at its beginning. */
static void rows_are_forgotten_when_nobody_needs_them(void **state) {
    (void)state;
    const mst_shuffle_options full = {.seed = 7}, buffer = {.buffer_size = 9, .seed = 8};
    mst_dataset *dataset = zip(zip(pipeline_numbers(30), pipeline_numbers(30)), pipeline_numbers(30));
    mst_iterator *it, *skipped;
    mst_tensor *position;
    const mst_batch *batch;
    THEN(dataset, mst_dataset_shuffle(dataset, &full, &made));
    THEN(dataset, mst_dataset_repeat(dataset, 2, &made));
    THEN(dataset, mst_dataset_shuffle(dataset, &buffer, &made));
    EXPECT_OK(mst_iterator_create(dataset, 0, &it));
    EXPECT_OK(mst_iterator_create(dataset, 0, &skipped));
    for (int i = 0; i < 10; i++) EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_OK(mst_iterator_skip(it, 1));
    EXPECT_OK(mst_iterator_skip(skipped, 11));
    assert_true(pipeline_position_size(it) > 0);
    assert_int_equal(pipeline_position_size(it), pipeline_position_size(skipped));
    for (int restored = 0; restored < 2; restored++) {
        EXPECT_OK(mst_iterator_save(it, &position));
        mst_iterator_destroy(it);
        EXPECT_OK(mst_iterator_restore(dataset, position, &it));
        mst_tensor_release(position);
        EXPECT_OK(mst_iterator_next(it, &batch));
    }
    EXPECT_OK(mst_iterator_skip(it, 100));
    EXPECT_OK(mst_iterator_skip(skipped, 100));
    assert_true(pipeline_position_size(it) > 0);
    assert_int_equal(pipeline_position_size(it), pipeline_position_size(skipped));
    mst_iterator_destroy(it);
    mst_iterator_destroy(skipped);
    mst_dataset_release(dataset);
}

static void skipping_is_as_reading_on(void **state) {
    (void)state;
    pair whole[MOST], rest[MOST];
    mst_dataset *dataset = long_pipeline();
    const int64_t count = pairs_of(dataset, 0, whole);
    for (int64_t n = 0; n < 23; n += 5) {
        mst_iterator *it;
        EXPECT_OK(mst_iterator_create(dataset, 0, &it));
        EXPECT_OK(mst_iterator_skip(it, n));
        assert_int_equal(read_pairs(dataset, it, rest), count - 4 * n);
        assert_memory_equal(rest, whole + 4 * n, (size_t)(count - 4 * n) * sizeof *rest);
        mst_iterator_destroy(it);
    }
    mst_dataset_release(dataset);
}

/* Ids of records that come forward, and the numbers beside them. */
static mst_dataset *beside_records(void) {
    mst_dataset *dataset = zip(pipeline_numbers(25), records_open(&(mst_tfrecord_options){.forward = true}, true));
    THEN(dataset, mst_dataset_repeat(dataset, 2, &made));
    const mst_shuffle_options options = {.buffer_size = 9};
    THEN(dataset, mst_dataset_shuffle(dataset, &options, &made));
    return dataset;
}

static int64_t next_id(mst_iterator *it) {
    const mst_batch *batch;
    int64_t number[2], id;
    EXPECT_OK(mst_iterator_next(it, &batch));
    if (!batch) return -1;
    EXPECT_OK(mst_batch_copy(batch, 0, 0, 1, number));
    EXPECT_OK(mst_batch_copy(batch, 2, 0, 1, &id));
    assert_int_equal(number[0], 10 * id);
    return id;
}

static void records_that_come_forward_are_read_again_on_restore(void **state) {
    (void)state;
    records_write(2, (const int64_t[]){13, 12}, MST_TFRECORD_GZIP);
    mst_dataset *dataset = beside_records();
    for (int at = 0; at <= 50; at += 7) {
        mst_iterator *it, *again;
        mst_tensor *position;
        EXPECT_OK(mst_iterator_create(dataset, 0, &it));
        for (int i = 0; i < at; i++) assert_true(next_id(it) >= 0);
        EXPECT_OK(mst_iterator_save(it, &position));
        EXPECT_OK(mst_iterator_restore(dataset, position, &again));
        for (int i = at; i <= 50; i++) assert_int_equal(next_id(again), next_id(it));
        assert_int_equal(next_id(again), -1);
        mst_tensor_release(position);
        mst_iterator_destroy(again);
        mst_iterator_destroy(it);
    }
    mst_dataset_release(dataset);
}

static mst_status keep_all(const mst_array *in, bool *keep, void *context) {
    (void)in;
    (void)context;
    *keep = true;
    return MST_OK;
}

static void the_number_of_rows_is_known_where_it_can_be(void **state) {
    (void)state;
    mst_dataset *endless = pipeline_numbers(3);
    THEN(endless, mst_dataset_repeat(endless, -1, &made));
    mst_dataset *dataset = zip(mst_dataset_retain(endless), pipeline_numbers(8));
    assert_int_equal(mst_dataset_num_rows(dataset), 8);
    pair pairs[MOST] = {{0, 0}};
    assert_int_equal(pairs_of(dataset, 0, pairs), 8);
    assert_true(pairs[7].left == 1 && pairs[7].right == 7);
    mst_dataset_release(dataset);
    mst_dataset *filtered = pipeline_numbers(3);
    THEN(filtered, mst_dataset_filter(filtered, keep_all, NULL, &made));
    dataset = zip(mst_dataset_retain(endless), filtered);
    assert_int_equal(mst_dataset_num_rows(dataset), MST_UNKNOWN_CARDINALITY);
    assert_int_equal(pairs_of(dataset, 0, pairs), 3);
    mst_dataset_release(dataset);
    dataset = zip(mst_dataset_retain(endless), endless);
    assert_int_equal(mst_dataset_num_rows(dataset), MST_INFINITE);
    mst_dataset_release(dataset);
}

static mst_status add(const mst_array *in, mst_array *out, void *context) {
    (void)context;
    *(int64_t *)out[0].data = *(const int64_t *)in[0].data + 1000 * *(const uint8_t *)in[3].data;
    return MST_OK;
}

static void a_map_sees_the_components_of_all_parts(void **state) {
    (void)state;
    mst_iterator *it;
    const mst_batch *batch;
    mst_dataset *dataset = zip(pipeline_numbers(5), pipeline_numbers(5));
    THEN(dataset, mst_dataset_map(dataset, add, NULL, (const mst_spec[]){{MST_I64, MST_SCALAR}}, 1, &made));
    EXPECT_OK(mst_iterator_create(dataset, 0, &it));
    for (int64_t i = 0; i < 5; i++) {
        int64_t sum;
        EXPECT_OK(mst_iterator_next(it, &batch));
        EXPECT_OK(mst_batch_copy(batch, 0, 0, 1, &sum));
        assert_int_equal(sum, 1010 * i);
    }
    mst_iterator_destroy(it);
    mst_dataset_release(dataset);
}

static void rows_of_any_length_are_side_by_side(void **state) {
    (void)state;
    enum { ROWS = 20, EACH = 8, LIST = 3 };
    mst_dataset *left = varied_rows(pipeline_numbers(ROWS)), *right = varied_rows(shuffled(ROWS, 0, 5));
    mst_dataset *both = zip(mst_dataset_retain(left), mst_dataset_retain(right)), *d[] = {both, left, right};
    mst_iterator *it[3];
    const mst_batch *batch[3];
    int64_t value[2];
    for (int i = 0; i < 3; i++) EXPECT_OK(mst_iterator_create(d[i], 0, &it[i]));
    for (int row = 0; row < ROWS; row++) {
        for (int i = 0; i < 3; i++) EXPECT_OK(mst_iterator_next(it[i], &batch[i]));
        for (int c = 0; c < 2 * EACH; c++) {
            mst_tensor *found, *expected;
            EXPECT_OK(mst_batch_tensor(batch[0], c, &found));
            EXPECT_OK(mst_batch_tensor(batch[1 + c / EACH], c % EACH, &expected));
            assert_true(mst_shape_equal(mst_tensor_shape(found), mst_tensor_shape(expected)));
            assert_true(mst_tensor_same(found, expected));
            mst_tensor_release(found);
            mst_tensor_release(expected);
        }
        EXPECT_OK(mst_batch_copy(batch[0], 0, 0, 1, value)); /* one of a known length alone */
        assert_int_equal(value[0], 10 * row);
        EXPECT_ERROR(mst_batch_copy(batch[0], LIST, 0, 1, value), MST_INVALID,
                     "component 3 has rows of different lengths: pad it");
    }
    for (int i = 0; i < 3; i++) mst_iterator_destroy(it[i]);
    THEN(both, mst_dataset_padded_batch(both, ROWS, false, NULL, &made));
    EXPECT_OK(mst_iterator_create(both, 0, it));
    EXPECT_OK(mst_iterator_next(*it, batch));
    int64_t list[ROWS][4];
    assert_true(mst_shape_equal(mst_batch_shape(*batch, LIST), MST_SHAPE(ROWS, 4)));
    EXPECT_OK(mst_batch_copy(*batch, LIST, 0, ROWS, list));
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t k = 0; k < 4; k++) assert_int_equal(list[i][k], k < i % 5 ? i - k : 0);
    mst_iterator_destroy(*it);
    mst_dataset_release(both);
    mst_dataset_release(left);
    mst_dataset_release(right);
}

static void names_of_classes_are_those_of_the_part(void **state) {
    (void)state;
    mst_dataset *named = pipeline_numbers(3);
    THEN(named, mst_dataset_name_classes(named, 1, (const char *[]){"no", "yes"}, 2, &made));
    mst_dataset *dataset = zip(pipeline_numbers(3), named);
    assert_string_equal(mst_dataset_class_name(dataset, 3, 1), "yes");
    assert_null(mst_dataset_class_name(dataset, 1, 1));
    assert_null(mst_dataset_class_name(dataset, 4, 1));
    mst_dataset_release(dataset);
}

static void datasets_that_cannot_be_zipped_are_named(void **state) {
    (void)state;
    mst_dataset *zipped, *batches, *rows = pipeline_numbers(3);
    EXPECT_OK(mst_dataset_batch(rows, 2, false, &batches));
    EXPECT_ERROR(mst_dataset_zip(&rows, 0, &zipped), MST_INVALID, "0 datasets");
    EXPECT_ERROR(mst_dataset_zip((mst_dataset *[]){rows, NULL}, 2, &zipped), MST_INVALID, "dataset 1 is NULL");
    EXPECT_ERROR(mst_dataset_zip((mst_dataset *[]){rows, batches}, 2, &zipped), MST_INVALID, "put zip before batch");
    assert_null(zipped);
    mst_dataset_release(batches);
    mst_dataset_release(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_are_side_by_side_as_long_as_the_shortest),
        cmocka_unit_test(each_part_keeps_its_own_order),
        cmocka_unit_test(pairs_stay_together_behind_a_shuffle_over_epochs),
        cmocka_unit_test(a_restored_position_goes_on_with_the_same_pairs),
        cmocka_unit_test(zip_behind_two_shuffles_is_restored_at_every_position),
        cmocka_unit_test(permutations_over_several_passes_are_restored_at_every_position),
        cmocka_unit_test(rows_are_forgotten_when_nobody_needs_them),
        TEST_IN_FOLDER(records_that_come_forward_are_read_again_on_restore),
        cmocka_unit_test(skipping_is_as_reading_on),
        cmocka_unit_test(the_number_of_rows_is_known_where_it_can_be),
        cmocka_unit_test(a_map_sees_the_components_of_all_parts),
        cmocka_unit_test(rows_of_any_length_are_side_by_side),
        cmocka_unit_test(names_of_classes_are_those_of_the_part),
        cmocka_unit_test(datasets_that_cannot_be_zipped_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
