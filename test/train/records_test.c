/* Training on records gives the weights of training on the same rows in memory. */
#include <stdio.h>

#include "support/folder.h"
#include "support/test.h"
#include "support/training.h"

enum { ROWS = 130, FEATURES = 6, CLASSES = 3, BATCH = 20 };

static void train(mst_dataset *data, bool shuffle, char sha256[65]) {
    mst_model *model = training_model(16, CLASSES, 0);
    EXPECT_OK(
        mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01), .session = {.devices = "cpu:2/1"}, .seed = 4));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH, .epochs = 3, .no_shuffle = !shuffle));
    EXPECT_OK(mst_model_sha256(model, sha256));
    mst_model_destroy(model);
}

static mst_dataset *open_records(const mst_tfrecord_options *options) {
    const mst_feature features[] = {{.name = "x", .dtype = MST_F32, .shape = MST_SHAPE(FEATURES)},
                                    {.name = "label", .dtype = MST_I32}};
    const char *pattern = folder_path("a-train-*");
    mst_dataset *records, *rows;
    EXPECT_OK(mst_dataset_from_tfrecord(&pattern, 1, options, &records));
    EXPECT_OK(mst_dataset_parse_example(records, features, 2, &rows));
    mst_dataset_release(records);
    return rows;
}

static void weights_are_those_of_rows_in_memory(void **state) {
    (void)state;
    char spec[4096], expected[2][65], got[65];
    mst_dataset *memory = training_data(ROWS, FEATURES, CLASSES, 2);
    snprintf(spec, sizeof spec, "tfrecord:%s", folder_path("a"));
    for (int shuffle = 0; shuffle < 2; shuffle++) train(memory, shuffle, expected[shuffle]);
    for (int compressed = 0; compressed < 2; compressed++) {
        const mst_write_options options = {.num_shards = 3,
                                           .compression = compressed ? MST_TFRECORD_GZIP : MST_TFRECORD_PLAIN};
        EXPECT_OK(mst_dataset_write(spec, memory, NULL, &options));
        mst_dataset *records = open_records(NULL);
        for (int shuffle = 0; shuffle < 2 - compressed; shuffle++) {
            train(records, shuffle, got);
            assert_string_equal(got, expected[shuffle]);
        }
        mst_dataset_release(records);
    }
    mst_dataset_release(memory);
}

/* The buffer holds all of these rows: the order is a permutation, and not that of a known number of rows. */
static void rows_of_unknown_number_are_shuffled_in_a_buffer(void **state) {
    (void)state;
    char spec[4096], first[65], again[65], ordered[65];
    mst_dataset *memory = training_data(ROWS, FEATURES, CLASSES, 2);
    snprintf(spec, sizeof spec, "tfrecord:%s", folder_path("a"));
    EXPECT_OK(mst_dataset_write(spec, memory, NULL, &(mst_write_options){.compression = MST_TFRECORD_ZLIB}));
    mst_dataset *records = open_records(NULL);
    train(records, true, first);
    train(records, true, again);
    train(records, false, ordered);
    assert_string_equal(first, again);
    assert_string_not_equal(first, ordered);
    mst_dataset_release(records);
    mst_dataset_release(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(weights_are_those_of_rows_in_memory),
        TEST_IN_FOLDER(rows_of_unknown_number_are_shuffled_in_a_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
