/* Data of models with several inputs and outputs: arrays of npz files and features of Examples by their names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/npz.h"
#include "muster/example.h"
#include "muster/tfrecord.h"
#include "support/folder.h"
#include "support/pipeline.h"
#include "support/test.h"

enum { ROWS = 3, MOST_ARRAYS = 8 };

static const mst_data_options two_and_one = {.inputs = (const char *const[]){"left", "right"},
                                             .outputs = (const char *const[]){"price"},
                                             .num_inputs = 2,
                                             .num_outputs = 1};
static const mst_data_options one_and_one = {.inputs = (const char *const[]){"left"},
                                             .outputs = (const char *const[]){"price"},
                                             .num_inputs = 1,
                                             .num_outputs = 1};

/* Array I of NAMES, which NULL ends, has the number I in all its rows; the spec of the file. */
static const char *write_arrays(const char *const *names) {
    static char spec[512];
    mst_named_tensor array[MOST_ARRAYS];
    mst_tensor *tensor[MOST_ARRAYS];
    int n = 0;
    for (; names[n]; n++) {
        EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, 2), &tensor[n]));
        for (int i = 0; i < 2 * ROWS; i++) mst_tensor_set(tensor[n], i, n);
        array[n] = (mst_named_tensor){names[n], tensor[n]};
    }
    EXPECT_OK(mst_npz_write(folder_path("a.npz"), array, n));
    for (int i = 0; i < n; i++) mst_tensor_release(tensor[i]);
    snprintf(spec, sizeof spec, "npz:%s", folder_path("a.npz"));
    return spec;
}
#define ARRAYS(...) write_arrays((const char *const[]){__VA_ARGS__, NULL})

/* Component I of PART of SPEC has the number EXPECTED[I]. */
static void expect_components(const char *spec, const char *part, const mst_data_options *options, int n,
                              const double *expected) {
    mst_dataset *dataset;
    EXPECT_OK(mst_dataset_open_with(spec, part, options, &dataset));
    assert_int_equal(mst_dataset_num_components(dataset), n);
    for (int i = 0; i < n; i++) {
        mst_tensor *column = pipeline_column(dataset, i);
        assert_true(mst_tensor_get(column, 0) == expected[i]);
        mst_tensor_release(column);
    }
    mst_dataset_release(dataset);
}

static void arrays_go_by_the_names_of_a_model(void **state) {
    (void)state;
    expect_components(ARRAYS("price", "right", "left"), "train", &two_and_one, 3, (const double[]){2, 1, 0});
    const char *parts = ARRAYS("left_train", "right_train", "price_train", "left_test", "right_test", "price_test");
    expect_components(parts, "train", &two_and_one, 3, (const double[]){0, 1, 2});
    expect_components(parts, "test", &two_and_one, 3, (const double[]){3, 4, 5});
}

static void only_inputs_and_outputs_may_be_x_and_y(void **state) {
    (void)state;
    expect_components(ARRAYS("left", "right", "y"), "train", &two_and_one, 3, (const double[]){0, 1, 2});
    expect_components(ARRAYS("y_train", "x_train"), "train", &one_and_one, 2, (const double[]){1, 0});
    expect_components(ARRAYS("price", "left"), "train", &one_and_one, 2, (const double[]){1, 0});
}

/* Names that differ in case alone, in every role: the one that is due is read. */
static void names_that_differ_in_case_alone_are_told_apart(void **state) {
    (void)state;
    const mst_data_options plain = {.num_inputs = 0};
    static const char *const names[] = {"x_train", "y_train", "x_test", "y_test"};
    static const char *const other[] = {"X_train", "Y_TRAIN", "x_Test", "Y_test"};
    const mst_data_options cases = {.inputs = (const char *const[]){"in", "IN"},
                                    .outputs = (const char *const[]){"price"},
                                    .num_inputs = 2,
                                    .num_outputs = 1};
    mst_dataset *dataset;
    for (int i = 0; i < 4; i++) {
        const char *spec = ARRAYS(other[i], names[0], names[1], names[2], names[3]);
        expect_components(spec, i < 2 ? "train" : "test", &plain, 2,
                          i < 2 ? (const double[]){1, 2} : (const double[]){3, 4});
    }
    expect_components(ARRAYS("Y", "X", "y", "x"), "train", &plain, 2, (const double[]){3, 2});
    EXPECT_ERROR(mst_dataset_open(ARRAYS("x_train", "Y_train", "y_Train"), "train", &dataset), MST_NOT_FOUND,
                 "has no array 'y_train': it has x_train, Y_train, y_Train");
    expect_components(ARRAYS("in", "IN", "price"), "train", &cases, 3, (const double[]){0, 1, 2});
}

static void labels_are_not_needed_to_predict(void **state) {
    (void)state;
    const char *spec = ARRAYS("right", "left");
    expect_components(spec, "test", &two_and_one, 2, (const double[]){1, 0});
    expect_components(ARRAYS("left_train", "right_train", "price_train", "left_test", "right_test"), "test",
                      &two_and_one, 2, (const double[]){3, 4});
}

static void names_that_do_not_fit_are_told(void **state) {
    (void)state;
    mst_dataset *dataset;
    EXPECT_ERROR(mst_dataset_open_with(ARRAYS("left", "rigth", "price"), "train", &two_and_one, &dataset),
                 MST_NOT_FOUND,
                 "has no array 'right', an input of the model: it has 'left', 'rigth', 'price'; the model has inputs "
                 "'left', 'right' and output 'price'");
    EXPECT_ERROR(mst_dataset_open_with(ARRAYS("left", "right", "price", "cost"), "train", &two_and_one, &dataset),
                 MST_INVALID, "array 'cost' is none of the model's");
    EXPECT_ERROR(mst_dataset_open_with(ARRAYS("left_train", "right_train", "price"), "train", &two_and_one, &dataset),
                 MST_NOT_FOUND, "no array 'price_train', an output of the model");
    EXPECT_ERROR(mst_dataset_open_with(ARRAYS("left", "right", "price"), "test", &two_and_one, &dataset), MST_NOT_FOUND,
                 "add left_test");
    EXPECT_ERROR(mst_dataset_open_with("idx:a", "train", &two_and_one, &dataset), MST_INVALID,
                 "npz:FILE has an array for each");
}

/* ROWS Examples of LEFT and RIGHT, and where it is not NULL a label PRICE, 7; the spec of the file. */
static const char *write_examples(const char *left, const char *right, const char *price) {
    static char spec[512];
    static const float numbers[] = {5, 5}, label = 7;
    static const int64_t count = 6;
    const mst_feature_data features[] = {{"id", MST_I64, &count, 1},
                                         {left, MST_F32, numbers, 2},
                                         {right, MST_I64, &count, 1},
                                         {price, MST_F32, &label, 1}};
    const int n = price ? 4 : 3;
    const size_t size = mst_example_size(features, n);
    void *data = malloc(size);
    mst_tfrecord_writer *writer;
    mst_example_encode(features, n, data);
    EXPECT_OK(mst_tfrecord_writer_open(folder_path("a.tfrecord"), MST_TFRECORD_PLAIN, &writer));
    for (int i = 0; i < ROWS; i++) EXPECT_OK(mst_tfrecord_writer_add(writer, data, size));
    EXPECT_OK(mst_tfrecord_writer_commit(writer));
    mst_tfrecord_writer_close(writer);
    free(data);
    snprintf(spec, sizeof spec, "tfrecord:%s", folder_path("a.tfrecord"));
    return spec;
}

static void features_go_by_the_names_of_a_model(void **state) {
    (void)state;
    mst_dataset *dataset;
    expect_components(write_examples("left", "right", "price"), "train", &two_and_one, 3, (const double[]){5, 6, 7});
    EXPECT_OK(mst_dataset_open_with(write_examples("left", "right", NULL), "train", &two_and_one, &dataset));
    assert_int_equal(mst_dataset_num_components(dataset), 2);
    assert_int_equal(mst_dataset_spec(dataset, 1).shape.ndim, 1); /* inputs are rows, also of one number */
    mst_dataset_release(dataset);
    EXPECT_ERROR(mst_dataset_open_with(write_examples("left", "rigth", "price"), "train", &two_and_one, &dataset),
                 MST_NOT_FOUND, "Examples have no feature 'right', an input of the model: they have");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(arrays_go_by_the_names_of_a_model),
        TEST_IN_FOLDER(only_inputs_and_outputs_may_be_x_and_y),
        TEST_IN_FOLDER(names_that_differ_in_case_alone_are_told_apart),
        TEST_IN_FOLDER(labels_are_not_needed_to_predict),
        TEST_IN_FOLDER(names_that_do_not_fit_are_told),
        TEST_IN_FOLDER(features_go_by_the_names_of_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
