/* What mst_dataset_write writes, mst_dataset_open reads with the same values. */
#include <stdio.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/pipeline.h"
#include "support/test.h"

enum { ROWS = 53, TEST_ROWS = 7, MOST = 1000 };

static mst_dataset *rows_of(mst_dtype inputs, mst_shape row, mst_dtype labels, int64_t count) {
    mst_tensor *tensor[2];
    mst_dataset *dataset;
    mst_shape shape = {.ndim = row.ndim + 1, .dim = {count}};
    for (int i = 0; i < row.ndim; i++) shape.dim[i + 1] = row.dim[i];
    EXPECT_OK(mst_tensor_create(inputs, shape, &tensor[0]));
    EXPECT_OK(mst_tensor_create(labels, MST_SHAPE(count), &tensor[1]));
    for (int64_t i = 0; i < mst_tensor_count(tensor[0]); i++) mst_tensor_set(tensor[0], i, (double)(i * 7 % 120));
    for (int64_t i = 0; i < count; i++) mst_tensor_set(tensor[1], i, (double)(i % 10));
    EXPECT_OK(mst_dataset_from_tensors(tensor, 2, &dataset));
    mst_tensor_release(tensor[0]);
    mst_tensor_release(tensor[1]);
    return dataset;
}

/* Both components of all rows as f64. */
static int64_t values(mst_dataset *dataset, double *out) {
    mst_iterator *it;
    const mst_batch *batch;
    int64_t count = 0;
    EXPECT_OK(mst_iterator_create(dataset, 0, &it));
    for (;;) {
        EXPECT_OK(mst_iterator_next(it, &batch));
        if (!batch) break;
        for (int c = 0; c < 2; c++) {
            mst_tensor *tensor;
            EXPECT_OK(mst_batch_tensor(batch, c, &tensor));
            for (int64_t i = 0; i < mst_tensor_count(tensor); i++) out[count++] = mst_tensor_get(tensor, i);
            mst_tensor_release(tensor);
        }
    }
    mst_iterator_destroy(it);
    return count;
}

static const char *spec(const char *kind, const char *name) {
    static char text[4096];
    snprintf(text, sizeof text, "%s%s", kind, folder_path(name));
    return text;
}

static void expect_part(const char *name, const char *part, mst_dataset *rows) {
    mst_dataset *got;
    double expected[MOST], values_got[MOST];
    EXPECT_OK(mst_dataset_open(name, part, &got));
    assert_int_equal(mst_dataset_num_rows(got), mst_dataset_num_rows(rows));
    assert_true(mst_shape_equal(mst_dataset_spec(got, 0).shape, mst_dataset_spec(rows, 0).shape));
    assert_int_equal(mst_dataset_spec(got, 0).dtype, mst_dataset_spec(rows, 0).dtype);
    const int64_t count = values(rows, expected);
    assert_int_equal(values(got, values_got), count);
    assert_memory_equal(expected, values_got, (size_t)count * sizeof *expected);
    mst_dataset_release(got);
}

static void rows_come_back_as_they_were_written(void **state) {
    (void)state;
    static const struct {
        const char *kind;
        mst_dtype inputs, labels;
        mst_write_options options;
    } cases[] = {{"tfrecord:", MST_U8, MST_U8, {0}},
                 {"tfrecord:", MST_U8, MST_I64, {.num_shards = 5}},
                 {"tfrecord:", MST_F32, MST_F32, {.num_shards = 60}},
                 {"tfrecord:", MST_I64, MST_I32, {.num_shards = 3, .compression = MST_TFRECORD_GZIP}},
                 {"tfrecord:", MST_F32, MST_U8, {.compression = MST_TFRECORD_ZLIB}},
                 {"npz:", MST_F64, MST_I64, {0}},
                 {"npz:", MST_U8, MST_U8, {0}},
                 {"idx:", MST_U8, MST_I64, {0}},
                 {"idx:", MST_F32, MST_I32, {0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[16];
        snprintf(name, sizeof name, "data%d", (int)i);
        mst_dataset *train = rows_of(cases[i].inputs, MST_SHAPE(2, 3), cases[i].labels, ROWS);
        mst_dataset *test = rows_of(cases[i].inputs, MST_SHAPE(2, 3), cases[i].labels, TEST_ROWS);
        EXPECT_OK(mst_dataset_write(spec(cases[i].kind, name), train, test, &cases[i].options));
        expect_part(spec(cases[i].kind, name), "train", train);
        expect_part(spec(cases[i].kind, name), "test", test);
        mst_dataset_release(train);
        mst_dataset_release(test);
    }
}

static void file_or_pattern_is_the_train_part(void **state) {
    (void)state;
    mst_dataset *train = rows_of(MST_U8, MST_SHAPE(4), MST_U8, ROWS), *got;
    EXPECT_OK(mst_dataset_write(spec("tfrecord:", "a"), train, NULL, &(mst_write_options){.num_shards = 2}));
    expect_part(spec("tfrecord:", "a-train-*"), "train", train);
    EXPECT_ERROR(mst_dataset_open(spec("tfrecord:", "a-train-*"), "test", &got), MST_NOT_FOUND, "is the train part");
    EXPECT_ERROR(mst_dataset_open(spec("tfrecord:", "a"), "test", &got), MST_NOT_FOUND, "a-test-00000-of-");
    EXPECT_OK(mst_dataset_open(spec("tfrecord:", "a-train-00001-of-00002"), "train", &got));
    assert_int_equal(mst_dataset_num_rows(got), (ROWS + 1) / 2);
    mst_dataset_release(got);
    mst_dataset_release(train);
}

static void shards_that_are_missing_or_too_many_are_named(void **state) {
    (void)state;
    mst_dataset *train = rows_of(MST_U8, MST_SHAPE(4), MST_U8, ROWS), *got;
    EXPECT_OK(mst_dataset_write(spec("tfrecord:", "a"), train, NULL, &(mst_write_options){.num_shards = 3}));
    EXPECT_OK(mst_dataset_write(spec("tfrecord:", "a"), train, NULL, &(mst_write_options){.num_shards = 2}));
    EXPECT_ERROR(mst_dataset_open(spec("tfrecord:", "a"), "train", &got), MST_INVALID, "shards of two sets");
    assert_int_equal(unlink(folder_path("a-train-00000-of-00002")), 0);
    assert_int_equal(unlink(folder_path("a-train-00001-of-00002")), 0);
    assert_int_equal(unlink(folder_path("a-train-00001-of-00003")), 0);
    EXPECT_ERROR(mst_dataset_open(spec("tfrecord:", "a"), "train", &got), MST_INVALID, "shard 1 of 3 is missing");
    assert_null(got);
    mst_dataset_release(train);
}

static void damaged_record_of_a_spec_is_an_error_or_skipped(void **state) {
    (void)state;
    mst_dataset *train = rows_of(MST_U8, MST_SHAPE(4), MST_U8, ROWS), *got;
    double out[MOST];
    mst_iterator *it;
    const mst_batch *batch;
    EXPECT_OK(mst_dataset_write(spec("tfrecord:", "a"), train, NULL, NULL));
    FILE *file = fopen(folder_path("a-train-00000-of-00001"), "r+b");
    assert_int_equal(fseek(file, -2, SEEK_END), 0);
    fputc(77, file);
    fclose(file);
    EXPECT_OK(mst_dataset_open(spec("tfrecord:", "a"), "train", &got));
    EXPECT_OK(mst_iterator_create(got, 0, &it));
    EXPECT_OK(mst_iterator_skip(it, ROWS - 1));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_ERROR(mst_batch_copy(batch, 0, 0, 1, out), MST_CORRUPT, "the check sum of its data is wrong");
    mst_iterator_destroy(it);
    mst_dataset_release(got);
    const mst_data_options options = {.skip_corrupt = 1};
    EXPECT_OK(mst_dataset_open_with(spec("tfrecord:", "a"), "train", &options, &got));
    assert_int_equal(mst_dataset_num_rows(got), ROWS - 1);
    mst_dataset_release(got);
    EXPECT_ERROR(mst_dataset_open_with("npz:a", "train", &options, &got), MST_INVALID, "no records");
    mst_dataset_release(train);
}

static void datasets_that_cannot_be_written_are_named(void **state) {
    (void)state;
    mst_dataset *wide = rows_of(MST_F64, MST_SHAPE(4), MST_U8, ROWS), *endless;
    EXPECT_ERROR(mst_dataset_write(spec("tfrecord:", "a"), wide, NULL, NULL), MST_UNIMPLEMENTED, "inputs are f64");
    EXPECT_ERROR(mst_dataset_write("tsv:a", wide, NULL, NULL), MST_INVALID, "npz:FILE or tfrecord:PREFIX");
    EXPECT_ERROR(mst_dataset_write("npz:", wide, NULL, NULL), MST_INVALID, "write npz:FILE");
    EXPECT_ERROR(mst_dataset_write(spec("npz:", "a"), wide, NULL, &(mst_write_options){.num_shards = 2}), MST_INVALID,
                 "has no shards");
    EXPECT_ERROR(mst_dataset_write(spec("npz:", "no/a"), wide, NULL, NULL), MST_IO, "no/a");
    EXPECT_OK(mst_dataset_repeat(wide, -1, &endless));
    EXPECT_ERROR(mst_dataset_write(spec("npz:", "a"), endless, NULL, NULL), MST_INVALID, "has no end");
    mst_dataset_release(endless);
    mst_dataset_release(wide);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(rows_come_back_as_they_were_written),
        TEST_IN_FOLDER(file_or_pattern_is_the_train_part),
        TEST_IN_FOLDER(shards_that_are_missing_or_too_many_are_named),
        TEST_IN_FOLDER(damaged_record_of_a_spec_is_an_error_or_skipped),
        TEST_IN_FOLDER(datasets_that_cannot_be_written_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
