/* All numbers that the library writes and reads have decimal points, whatever the locale of the program is. */
#include <stdio.h>
#include <string.h>

#include "base/byte_count.h"
#include "base/number.h"
#include "inspect/statistics.h"
#include "muster/muster.h"
#include "support/comma_locale.h"
#include "support/test.h"
#include "support/training.h"

static int leave(void **state) {
    (void)state;
    return setlocale(LC_ALL, "C") ? 0 : -1;
}

static void need_commas(void) {
    char text[8];
    if (!comma_locale_enter()) skip();
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5");
}

static void numbers_are_printed_and_read(void **state) {
    (void)state;
    char text[MST_NUMBER_TEXT];
    double value;
    need_commas();
    assert_string_equal(mst_number_print_f64(0.5, text), "0.5");
    assert_true(mst_number_parse_f64("0.5", &value) && value == 0.5);
    assert_true(mst_number_start("0.25)", NULL) == 0.25);
    assert_string_equal(mst_bytes_print(1536, text, sizeof text), "1.5 KB");
    const mst_statistics s = {.finite = 2, .least = 0.5, .greatest = 1.5, .sum = 2.5};
    char range[MST_STATISTICS_TEXT];
    assert_string_equal(mst_statistics_print(&s, range), "  0.5 to 1.5, mean 1.25");
}

static void errors_have_points(void **state) {
    (void)state;
    need_commas();
    mst_dataset *data = training_data(10, 3, 2, 1), *out;
    EXPECT_ERROR(mst_dataset_scale(data, 1, MST_I64, 0.5, &out), MST_INVALID, "factor is 0.5,");
    mst_dataset_release(data);
}

static void progress_has_points(void **state) {
    (void)state;
    need_commas();
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    mst_dataset *data = training_data(20, 3, 2, 1);
    mst_model *model = training_model(4, 2, 0);
    EXPECT_OK(mst_compile(model, .metric = {MST_METRIC_ACCURACY}, .session = {.devices = "cpu:1/1"}));
    const mst_status status = mst_fit(model, .data = data, .batch_size = 5, .epochs = 100, .progress = file,
                                      .progress_kind = MST_PROGRESS_LINES);
    EXPECT_OK(status);
    fclose(file);
    const char *line = strstr(text, "step 100, loss = 0.");
    assert_non_null(line);
    assert_non_null(strstr(line, "accuracy = "));
    for (const char *c = text; (c = strchr(c, ',')); c++) assert_true(c[1] == ' ');
    free(text);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(numbers_are_printed_and_read, leave),
        cmocka_unit_test_teardown(errors_have_points, leave),
        cmocka_unit_test_teardown(progress_has_points, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
