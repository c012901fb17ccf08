/* The callback that writes a row of CSV for each epoch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/folder.h"
#include "support/test.h"
#include "support/training.h"

enum { ROWS = 40, BATCH = 10, FEATURES = 4, CLASSES = 3, PER_EPOCH = ROWS / BATCH, TEXT_SIZE = 4096 };

static mst_model *compiled(void) {
    mst_model *model = training_model(8, CLASSES, 0);
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 0.5), .metric = {MST_METRIC_ACCURACY},
                          .session = {.devices = "cpu:1/1"}, .seed = 1));
    return model;
}

static mst_status fit(mst_model *model, mst_csv_logger *logger, int64_t steps, bool resume) {
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_callback callback = mst_csv_logger_callback(logger);
    const mst_status status = mst_fit(model, .data = data, .batch_size = BATCH, .steps = steps, .resume = resume,
                                      .callbacks = &callback, .num_callbacks = 1);
    mst_dataset_release(data);
    return status;
}

static const char *read_text(const char *name) {
    static char text[TEXT_SIZE];
    FILE *file = fopen(folder_path(name), "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* Rows of TEXT that begin with EPOCH. */
static int count_rows(const char *text, int epoch) {
    char begin[16];
    int count = 0;
    snprintf(begin, sizeof begin, "\n%d,", epoch);
    for (const char *at = text; (at = strstr(at, begin)); at++) count++;
    return count;
}

static void each_epoch_has_one_row_also_where_a_fit_is_resumed(void **state) {
    (void)state;
    mst_csv_logger logger = {.path = folder_path("h.csv")};
    mst_model *model = compiled();
    EXPECT_OK(fit(model, &logger, 2 * PER_EPOCH + 2, false)); /* ends in the middle of the third epoch */
    assert_int_equal(count_rows(read_text("h.csv"), 2), 1);
    EXPECT_OK(fit(model, &logger, 5 * PER_EPOCH, true));
    const char *text = read_text("h.csv");
    assert_int_equal(strncmp(text, "epoch,loss,accuracy,learning_rate,seconds\n0,", 44), 0);
    for (int epoch = 0; epoch < 5; epoch++) assert_int_equal(count_rows(text, epoch), 1);
    assert_int_equal(count_rows(text, 5), 0);
    assert_non_null(strstr(text, ",0.5,"));
    mst_model_destroy(model);
}

static void rows_may_go_to_a_stream(void **state) {
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    mst_csv_logger logger = {.stream = stream};
    mst_model *model = compiled();
    EXPECT_OK(fit(model, &logger, 2 * PER_EPOCH, false));
    assert_int_equal(strncmp(text, "epoch,loss,accuracy,learning_rate,seconds\n0,", 44), 0);
    assert_int_equal(count_rows(text, 1), 1);
    assert_int_equal(fclose(stream), 0); /* the logger leaves it open */
    free(text);
    mst_model_destroy(model);
}

static void fit_that_begins_anew_replaces_the_file(void **state) {
    (void)state;
    mst_csv_logger logger = {.path = folder_write("h.csv", "something else\n0,1\n", 19)};
    mst_model *model = compiled();
    EXPECT_OK(fit(model, &logger, PER_EPOCH, false));
    assert_null(strstr(read_text("h.csv"), "something"));
    assert_int_equal(count_rows(read_text("h.csv"), 0), 1);
    mst_model_destroy(model);
}

static void rows_of_other_columns_are_not_mixed(void **state) {
    (void)state;
    mst_csv_logger logger = {.path = folder_path("h.csv")};
    mst_model *model = compiled();
    EXPECT_OK(fit(model, &logger, PER_EPOCH, false));
    folder_write("h.csv", "epoch,other\n0,1\n", 16);
    EXPECT_ERROR(fit(model, &logger, 2 * PER_EPOCH, true), MST_INVALID, "has the columns epoch,other");
    assert_string_equal(read_text("h.csv"), "epoch,other\n0,1\n");
    mst_model_destroy(model);
}

static void file_that_cannot_be_written_is_an_error_before_the_first_step(void **state) {
    (void)state;
    mst_model *model = compiled();
    EXPECT_ERROR(fit(model, &(mst_csv_logger){.path = NULL}, 1, false), MST_INVALID, "csv logger: no path is given");
    EXPECT_ERROR(fit(model, &(mst_csv_logger){.path = folder_path("")}, 1, false), MST_INVALID, "a folder");
    EXPECT_ERROR(fit(model, &(mst_csv_logger){.path = folder_path("none/h.csv")}, 1, false), MST_IO, "none/h.csv");
    mst_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(each_epoch_has_one_row_also_where_a_fit_is_resumed),
        cmocka_unit_test(rows_may_go_to_a_stream),
        TEST_IN_FOLDER(fit_that_begins_anew_replaces_the_file),
        TEST_IN_FOLDER(rows_of_other_columns_are_not_mixed),
        TEST_IN_FOLDER(file_that_cannot_be_written_is_an_error_before_the_first_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
