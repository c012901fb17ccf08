/* Caches of batches, in memory and in a file: each pass gives the batches of one pass over the dataset below. */
#include <stdatomic.h>

#include "data/dataset.h"
#include "support/folder.h"
#include "support/pipeline.h"
#include "support/test.h"
#include "support/varied_rows.h"

enum { ROWS = 103, SIZE = 10, MOST = 1000 };

static mst_status cache(mst_dataset *d, bool in_file, mst_dataset **out) {
    return in_file ? mst_dataset_cache_file(d, folder_path("rows.cache"), out) : mst_dataset_cache(d, out);
}

static mst_status count_row(const mst_array *in, mst_array *out, void *context) {
    atomic_fetch_add((atomic_int *)context, 1);
    memcpy(out[0].data, in[0].data, 16);
    memcpy(out[1].data, in[1].data, 1);
    return MST_OK;
}

/* Batches in another order in each epoch, whose rows are mapped after the batch. */
static mst_dataset *shuffled(bool drop_remainder, atomic_int *calls) {
    const mst_spec specs[] = {{MST_I64, MST_SHAPE(2)}, {MST_U8, MST_SCALAR}};
    mst_dataset *d = pipeline_numbers(ROWS);
    THEN(d, mst_dataset_shuffle(d, NULL, &made));
    THEN(d, mst_dataset_batch(d, SIZE, drop_remainder, &made));
    THEN(d, mst_dataset_map(d, count_row, calls, specs, 2, &made));
    return d;
}

static void expect_epochs(mst_dataset *d, const int64_t *rows, int64_t count, int64_t num_batches) {
    int64_t again[MOST], num_elements;
    for (int64_t epoch = 0; epoch < 3; epoch++) {
        assert_int_equal(pipeline_rows(d, epoch, again, MOST, &num_elements), count);
        assert_int_equal(num_elements, num_batches);
        assert_memory_equal(again, rows, (size_t)count * sizeof *rows);
    }
}

static void each_epoch_has_the_same_batches(void **state) {
    (void)state;
    for (int k = 0; k < 8; k++) {
        const bool in_file = k & 1, drop_remainder = k & 2, prefetched = k & 4;
        int64_t rows[MOST], num_batches;
        atomic_int calls = 0;
        mst_dataset *d = shuffled(drop_remainder, &calls);
        const int64_t count = pipeline_rows(d, 0, rows, MOST, &num_batches);
        assert_int_equal(count, drop_remainder ? ROWS - ROWS % SIZE : ROWS);
        calls = 0;
        if (prefetched) THEN(d, mst_dataset_prefetch(d, 2, &made));
        THEN(d, cache(d, in_file, &made));
        assert_int_equal(mst_dataset_cardinality(d), num_batches);
        assert_int_equal(mst_dataset_num_rows(d), count);
        assert_int_equal(mst_dataset_spec(d, 0).shape.dim[0], drop_remainder ? SIZE : -1);
        expect_epochs(d, rows, count, num_batches);
        assert_int_equal(calls, count);
        mst_dataset_release(d);
        if (in_file) { /* as in another process */
            d = shuffled(drop_remainder, &calls);
            THEN(d, cache(d, true, &made));
            expect_epochs(d, rows, count, num_batches);
            assert_int_equal(calls, count);
            mst_dataset_release(d);
            assert_int_equal(remove(folder_path("rows.cache")), 0);
        }
    }
}

static mst_status keep_odd(const mst_array *in, bool *keep, void *context) {
    (void)context;
    *keep = *(const int64_t *)in[0].data / 10 % 2;
    return MST_OK;
}

static void batches_whose_number_is_not_known_are_kept(void **state) {
    (void)state;
    for (int in_file = 0; in_file < 2; in_file++) {
        int64_t rows[MOST], num_batches;
        mst_dataset *d = pipeline_numbers(ROWS);
        THEN(d, mst_dataset_filter(d, keep_odd, NULL, &made));
        THEN(d, mst_dataset_batch(d, SIZE, false, &made));
        const int64_t count = pipeline_rows(d, 0, rows, MOST, &num_batches);
        assert_int_equal(count, ROWS / 2);
        THEN(d, cache(d, in_file, &made));
        expect_epochs(d, rows, count, num_batches);
        mst_dataset_release(d);
    }
}

static void expect_same_batches(mst_dataset *d, mst_dataset *like) {
    mst_iterator *it, *it_like;
    const mst_batch *batch, *batch_like;
    EXPECT_OK(mst_iterator_create(d, 1, &it));
    EXPECT_OK(mst_iterator_create(like, 0, &it_like));
    for (;;) {
        EXPECT_OK(mst_iterator_next(it, &batch));
        EXPECT_OK(mst_iterator_next(it_like, &batch_like));
        assert_int_equal(batch == NULL, batch_like == NULL);
        if (!batch) break;
        for (int i = 0; i < mst_dataset_num_components(like); i++) {
            mst_tensor *tensor, *tensor_like;
            EXPECT_OK(mst_batch_tensor(batch, i, &tensor));
            EXPECT_OK(mst_batch_tensor(batch_like, i, &tensor_like));
            assert_true(mst_shape_equal(mst_tensor_shape(tensor), mst_tensor_shape(tensor_like)));
            const mst_string *text = mst_tensor_data(tensor), *text_like = mst_tensor_data(tensor_like);
            const bool has_strings = mst_tensor_dtype(tensor) == MST_STRING;
            for (int64_t k = 0; k < mst_tensor_count(tensor); k++) {
                if (!has_strings)
                    assert_true(mst_tensor_get(tensor, k) == mst_tensor_get(tensor_like, k));
                else
                    assert_true(text[k].length == text_like[k].length &&
                                (!text[k].length || !memcmp(text[k].data, text_like[k].data, text[k].length)));
            }
            mst_tensor_release(tensor);
            mst_tensor_release(tensor_like);
        }
    }
    mst_iterator_destroy(it);
    mst_iterator_destroy(it_like);
}

static void padded_batches_keep_their_lengths(void **state) {
    (void)state;
    for (int in_file = 0; in_file < 2; in_file++) {
        mst_dataset *d = varied_rows(pipeline_numbers(ROWS));
        THEN(d, mst_dataset_padded_batch(d, SIZE, false, NULL, &made));
        mst_dataset *kept = mst_dataset_retain(d);
        THEN(kept, cache(kept, in_file, &made));
        expect_same_batches(kept, d);
        expect_same_batches(kept, d);
        mst_dataset_release(kept);
        mst_dataset_release(d);
    }
}

static void a_position_goes_on(void **state) {
    (void)state;
    for (int in_file = 0; in_file < 2; in_file++) {
        for (int64_t stop = 0; stop <= ROWS / SIZE + 1; stop++) {
            atomic_int calls = 0;
            int64_t rows[MOST], value[2 * SIZE];
            mst_iterator *it;
            mst_tensor *position;
            const mst_batch *batch;
            mst_dataset *d = shuffled(false, &calls);
            assert_int_equal(pipeline_rows(d, 0, rows, MOST, NULL), ROWS);
            THEN(d, cache(d, in_file, &made));
            EXPECT_OK(mst_iterator_create(d, 0, &it));
            for (int64_t i = 0; i < stop; i++) EXPECT_OK(mst_iterator_next(it, &batch));
            EXPECT_OK(mst_iterator_save(it, &position));
            mst_iterator_destroy(it);
            EXPECT_OK(mst_iterator_restore(d, position, &it));
            mst_tensor_release(position);
            EXPECT_OK(mst_iterator_next(it, &batch));
            assert_int_equal(batch != NULL, stop * SIZE < ROWS);
            for (int64_t i = 0; batch && i < mst_batch_size(batch); i++) {
                EXPECT_OK(mst_batch_copy(batch, 0, i, 1, value));
                assert_int_equal(value[0], 10 * rows[stop * SIZE + i]);
            }
            mst_iterator_destroy(it);
            mst_dataset_release(d);
            (void)remove(folder_path("rows.cache"));
        }
    }
}

static void a_short_batch_in_the_middle_is_told(void **state) {
    (void)state;
    mst_dataset *out, *d = pipeline_numbers(13);
    mst_iterator *it;
    const mst_batch *batch;
    THEN(d, mst_dataset_batch(d, SIZE, false, &made));
    THEN(d, mst_dataset_repeat(d, 2, &made));
    EXPECT_ERROR(mst_dataset_cache(d, &out), MST_INVALID, "put repeat behind cache");
    assert_null(out);
    EXPECT_OK(cache(d, true, &out));
    EXPECT_OK(mst_iterator_create(out, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_ERROR(mst_iterator_next(it, &batch), MST_INVALID, "put repeat behind cache");
    mst_iterator_destroy(it);
    mst_dataset_release(out);
    mst_dataset_release(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(each_epoch_has_the_same_batches),     TEST_IN_FOLDER(batches_whose_number_is_not_known_are_kept),
        TEST_IN_FOLDER(padded_batches_keep_their_lengths),   TEST_IN_FOLDER(a_position_goes_on),
        TEST_IN_FOLDER(a_short_batch_in_the_middle_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
