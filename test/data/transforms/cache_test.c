/* Caches in memory: rows of any length, names of classes and schemas that are kept, and datasets without rows. */
#include "data/dataset.h"
#include "support/folder.h"
#include "support/pipeline.h"
#include "support/test.h"
#include "support/varied_rows.h"

enum { ROWS = 600 };

static mst_dataset *cached(void) {
    mst_dataset *d = varied_rows(pipeline_numbers(ROWS));
    THEN(d, mst_dataset_cache(d, &made));
    return d;
}

static void rows_of_any_length_come_in_any_order(void **state) {
    (void)state;
    int64_t rows[ROWS + 1], seen[ROWS] = {0};
    mst_dataset *d = varied_rows_checked(cached());
    assert_int_equal(mst_dataset_num_rows(d), ROWS);
    for (int epoch = 0; epoch < 2; epoch++) {
        assert_int_equal(pipeline_rows(d, epoch, rows, ROWS + 1, NULL), ROWS);
        for (int64_t i = 0; i < ROWS; i++) assert_int_equal(rows[i], i);
    }
    THEN(d, mst_dataset_shuffle(d, NULL, &made));
    THEN(d, mst_dataset_batch(d, 7, false, &made));
    THEN(d, mst_dataset_prefetch(d, 2, &made));
    assert_int_equal(pipeline_rows(d, 0, rows, ROWS + 1, NULL), ROWS);
    for (int64_t i = 0; i < ROWS; i++) seen[rows[i]]++;
    for (int64_t i = 0; i < ROWS; i++) assert_int_equal(seen[i], 1);
    mst_dataset_release(d);
}

static void cached_rows_of_any_length_can_be_padded(void **state) {
    (void)state;
    mst_iterator *it;
    const mst_batch *batch;
    mst_dataset *d = cached();
    assert_int_equal(mst_dataset_num_components(d), 8);
    THEN(d, mst_dataset_padded_batch(d, 10, false, NULL, &made));
    EXPECT_OK(mst_iterator_create(d, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    assert_true(mst_shape_equal(mst_batch_shape(batch, 3), MST_SHAPE(10, 4)));
    assert_true(mst_shape_equal(mst_batch_shape(batch, 4), MST_SHAPE(10, 2)));
    assert_true(mst_shape_equal(mst_batch_shape(batch, 5), MST_SHAPE(10, 2, 3)));
    int64_t list[10][4];
    EXPECT_OK(mst_batch_copy(batch, 3, 0, 10, list));
    for (int64_t i = 0; i < 10; i++)
        for (int64_t k = 0; k < 4; k++) assert_int_equal(list[i][k], k < i % 5 ? i - k : 0);
    mst_iterator_destroy(it);
    mst_dataset_release(d);
}

static mst_status keep_none(const mst_array *in, bool *keep, void *context) {
    (void)in, (void)context;
    *keep = false;
    return MST_OK;
}

/* Also by a cache in a file. */
static void names_of_classes_and_the_schema_are_kept(void **state) {
    (void)state;
    mst_dataset *rows, *kept;
    EXPECT_OK(mst_dataset_from_csv(folder_write_text("a.csv", "width,kind\n1,tin\n2,iron\n"), NULL, &rows));
    for (int file = 0; file < 2; file++) {
        EXPECT_OK(file ? mst_dataset_cache_file(rows, folder_path("rows"), &kept) : mst_dataset_cache(rows, &kept));
        assert_string_equal(mst_dataset_class_name(kept, 1, 1), "tin");
        assert_non_null(mst_dataset_schema(kept));
        assert_string_equal(mst_dataset_schema(kept), mst_dataset_schema(rows));
        mst_dataset_release(kept);
    }
    mst_dataset_release(rows);
}

static void a_dataset_without_rows_is_told(void **state) {
    (void)state;
    mst_dataset *out, *d = varied_rows(pipeline_numbers(3));
    THEN(d, mst_dataset_filter(d, keep_none, NULL, &made));
    EXPECT_ERROR(mst_dataset_cache(d, &out), MST_INVALID, "the dataset has no rows");
    assert_null(out);
    mst_dataset_release(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_any_length_come_in_any_order),
        cmocka_unit_test(cached_rows_of_any_length_can_be_padded),
        TEST_IN_FOLDER(names_of_classes_and_the_schema_are_kept),
        cmocka_unit_test(a_dataset_without_rows_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
