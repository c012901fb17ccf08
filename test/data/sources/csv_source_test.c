/* CSV files as a source: types of columns, labels, categories, missing cells, and options that do not fit. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "muster/dataset.h"
#include "support/expect.h"
#include "support/folder.h"
#include "support/pipeline.h"

static const char iris[] =
    "width,color,class,count\n"
    "1.5,red,virginica,3\n"
    " 2 ,blue,setosa,-4\n"
    "3e1,red,\"versicolor\",+5\n";

static void expect_f32(mst_dataset *dataset, int i, const float *values, size_t n) {
    mst_tensor *tensor = pipeline_column(dataset, i);
    assert_int_equal(mst_tensor_dtype(tensor), MST_F32);
    assert_int_equal(mst_tensor_count(tensor), n);
    assert_memory_equal(mst_tensor_data(tensor), values, n * sizeof *values);
    mst_tensor_release(tensor);
}

static void expect_i64(mst_dataset *dataset, int i, const int64_t *values, size_t n) {
    mst_tensor *tensor = pipeline_column(dataset, i);
    assert_int_equal(mst_tensor_dtype(tensor), MST_I64);
    assert_int_equal(mst_tensor_count(tensor), n);
    assert_memory_equal(mst_tensor_data(tensor), values, n * sizeof *values);
    mst_tensor_release(tensor);
}

static const char reviews[] = "stars,review,id\n5,\"Good, very good\",a\n1,,b\n";

static void a_text_column_is_all_inputs(void **state) {
    (void)state;
    mst_dataset *dataset;
    const char *path = folder_write_text("reviews.csv", reviews);
    EXPECT_OK(mst_dataset_from_csv(path, &(mst_csv_options){.text = "review", .label = "stars"}, &dataset));
    assert_int_equal(mst_dataset_num_components(dataset), 2);
    mst_tensor *texts = pipeline_column(dataset, 0);
    assert_true(mst_string_equal(mst_tensor_get_string(texts, 0), mst_string_of("Good, very good")));
    assert_int_equal(mst_tensor_get_string(texts, 1).length, 0);
    mst_tensor_release(texts);
    expect_i64(dataset, 1, (const int64_t[]){5, 1}, 2);
    mst_dataset_release(dataset);
    EXPECT_OK(
        mst_dataset_from_csv(path, &(mst_csv_options){.text = "stars"}, &dataset)); /* the label is the last other */
    assert_string_equal(mst_dataset_class_name(dataset, 1, 1), "b");
    mst_dataset_release(dataset);
    EXPECT_ERROR(mst_dataset_from_csv(path, &(mst_csv_options){.text = "reviews"}, &dataset), MST_NOT_FOUND,
                 "has no column 'reviews'");
    EXPECT_ERROR(mst_dataset_from_csv(path, &(mst_csv_options){.text = "id", .label = "id"}, &dataset), MST_INVALID,
                 "column 'id' cannot be the label and the text");
    const char *const drop[] = {"stars", "id"};
    EXPECT_ERROR(
        mst_dataset_from_csv(path, &(mst_csv_options){.text = "review", .drop = drop, .num_drop = 2}, &dataset),
        MST_INVALID, "has no column of labels beside the texts in 'review'");
}

static void columns_become_inputs_and_the_label_named(void **state) {
    (void)state;
    mst_dataset *dataset;
    EXPECT_OK(
        mst_dataset_from_csv(folder_write_text("iris.csv", iris), &(mst_csv_options){.label = "class"}, &dataset));
    assert_int_equal(mst_dataset_num_rows(dataset), 3);
    assert_int_equal(mst_dataset_num_components(dataset), 2);
    assert_true(mst_shape_equal(mst_dataset_spec(dataset, 0).shape, MST_SHAPE(3)));
    expect_f32(dataset, 0, (const float[]){1.5f, 1, 3, 2, 0, -4, 30, 1, 5}, 9);
    expect_i64(dataset, 1, (const int64_t[]){2, 0, 1}, 3);
    assert_int_equal(mst_dataset_num_classes(dataset, 1), 3);
    assert_string_equal(mst_dataset_class_name(dataset, 1, 0), "setosa");
    assert_string_equal(mst_dataset_class_name(dataset, 1, 1), "versicolor");
    assert_string_equal(mst_dataset_class_name(dataset, 1, 2), "virginica");
    assert_null(mst_dataset_class_name(dataset, 1, 3));
    assert_null(mst_dataset_class_name(dataset, 1, -1));
    assert_null(mst_dataset_class_name(dataset, 0, 0));
    mst_dataset_release(dataset);
}

static void the_last_column_is_the_label_where_none_is_named(void **state) {
    (void)state;
    mst_dataset *dataset;
    EXPECT_OK(mst_dataset_from_csv(folder_write_text("iris.csv", iris), NULL, &dataset));
    expect_i64(dataset, 1, (const int64_t[]){3, -4, 5}, 3);
    assert_int_equal(mst_dataset_num_classes(dataset, 1), 0);
    mst_dataset_release(dataset);
    EXPECT_OK(mst_dataset_from_csv(folder_path("iris.csv"), &(mst_csv_options){.label = "width"}, &dataset));
    expect_f32(dataset, 1, (const float[]){1.5f, 2, 30}, 3);
    mst_dataset_release(dataset);
}

static void columns_can_be_components_of_their_own(void **state) {
    (void)state;
    mst_dataset *dataset;
    const mst_csv_options options = {
        .label = "color", .separate = true, .categories = (const char *[]){"count"}, .num_categories = 1};
    EXPECT_OK(mst_dataset_from_csv(folder_write_text("iris.csv", iris), &options, &dataset));
    assert_int_equal(mst_dataset_num_components(dataset), 4);
    expect_f32(dataset, 0, (const float[]){1.5f, 2, 30}, 3);
    expect_i64(dataset, 1, (const int64_t[]){2, 0, 1}, 3);
    expect_i64(dataset, 2, (const int64_t[]){2, 1, 0}, 3);
    expect_i64(dataset, 3, (const int64_t[]){1, 0, 1}, 3);
    assert_string_equal(mst_dataset_class_name(dataset, 2, 2), "3");
    assert_string_equal(mst_dataset_class_name(dataset, 1, 2), "virginica");
    assert_string_equal(mst_dataset_class_name(dataset, 3, 0), "blue");
    mst_dataset_release(dataset);
}

static void columns_may_stay_strings(void **state) {
    (void)state;
    static const char table[] = "label,text,stars\n1,\"good, \"\"very\"\" good\",5\n0,12,1\n1,,3\n";
    static const char *const expected[] = {"good, \"very\" good", "12", ""};
    static const char *const text[] = {"text"};
    const char *path = folder_write_text("reviews.csv", table);
    mst_dataset *dataset, *batches;
    mst_iterator *it;
    const mst_batch *batch;
    mst_tensor *tensor;
    mst_csv_options o = {.label = "label", .texts = text, .num_texts = 1};
    EXPECT_ERROR(mst_dataset_from_csv(path, &o, &dataset), MST_INVALID, "column 'text' is text");
    o.separate = true;
    EXPECT_OK(mst_dataset_from_csv(path, &o, &dataset));
    assert_int_equal(mst_dataset_spec(dataset, 0).dtype, MST_STRING);
    EXPECT_OK(mst_dataset_batch(dataset, 3, false, &batches));
    EXPECT_OK(mst_iterator_create(batches, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_OK(mst_batch_tensor(batch, 0, &tensor));
    for (int i = 0; i < 3; i++) assert_string_equal(mst_tensor_get_string(tensor, i).data, expected[i]);
    mst_tensor_release(tensor);
    mst_iterator_destroy(it);
    mst_dataset_release(batches);
    expect_i64(dataset, 1, (const int64_t[]){5, 1, 3}, 3);
    expect_i64(dataset, 2, (const int64_t[]){1, 0, 1}, 3);
    mst_dataset *again;
    mst_csv_options as_before = {.schema = mst_dataset_schema(dataset), .separate = true};
    EXPECT_OK(mst_dataset_from_csv(path, &as_before, &again));
    assert_int_equal(mst_dataset_spec(again, 0).dtype, MST_STRING);
    mst_dataset_release(again);
    as_before.separate = false;
    EXPECT_ERROR(mst_dataset_from_csv(path, &as_before, &again), MST_INVALID, "column 'text' is text");
    mst_dataset_release(dataset);
    o.texts = (const char *[]){"txt"};
    EXPECT_ERROR(mst_dataset_from_csv(path, &o, &dataset), MST_NOT_FOUND, "has no column 'txt'");
}

static void a_test_part_has_the_numbers_of_the_train_part(void **state) {
    (void)state;
    mst_dataset *dataset;
    folder_write_text("a-train.csv", "x,y\n1,dog\n2,cat\n3,fox\n");
    folder_write_text("a-test.csv", "y,x\ndog,1.5\nfox,2\n");
    const char *train = folder_path("a-train.csv"), *test = folder_path("a-test.csv");
    char spec[512];
    snprintf(spec, sizeof spec, "csv:%s", folder_path("a"));
    EXPECT_OK(mst_dataset_open(spec, "test", &dataset));
    expect_f32(dataset, 0, (const float[]){1.5f, 2}, 2);
    expect_i64(dataset, 1, (const int64_t[]){1, 2}, 2);
    assert_string_equal(mst_dataset_class_name(dataset, 1, 0), "cat");
    mst_dataset_release(dataset);
    EXPECT_OK(mst_dataset_open(spec, "train", &dataset));
    expect_i64(dataset, 1, (const int64_t[]){1, 0, 2}, 3);
    mst_dataset_release(dataset);
    folder_write_text("a-test.csv", "y,x\ndog,1.5\nowl,2\n");
    EXPECT_ERROR(
        mst_dataset_from_csv(test, &(mst_csv_options){.like = train}, &dataset), MST_INVALID,
        "a-test.csv', line 3, column 'y': category 'owl' was not there in training: there is 'cat', 'dog', 'fox'");
    folder_write_text("a-test.csv", "y,z\ndog,1.5\n");
    EXPECT_ERROR(mst_dataset_from_csv(test, &(mst_csv_options){.like = train}, &dataset), MST_NOT_FOUND,
                 "has no column 'x'");
    assert_null(dataset);
}

static void cells_that_are_no_such_number_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a,b\n1,2\n,3\n", "line 3, column 'a': the number is missing"},
        {"a,b\n1,2\n \t,3\n", "line 3, column 'a': the number is missing"},
        {"a,b\n1,2\n\n\"2\n\",3\n", "line 4, column 'a': '2\\n' is no number, '1' in a row above is one"},
        {"a,b\nnan,2\n2,3\n", "line 2, column 'a': the number is missing"},
        {"a,b\n1,2\nNA,3\n", "line 3, column 'a': the number is missing"},
        {"a,b\ninf,2\n2,3\n", "line 3, column 'a': '2' is a number, 'inf' in a row above is none"},
        {"a,b\n1,2\n1,\n", "line 3, column 'b': the label is missing"},
        {"a,b\n1,x\n1,\n", "line 3, column 'b': the label is missing"},
        {"a,b\n,2\nNA,3\n", "column 'a' has no value in any row"},
        {"a,b\n1,2\n1e39,3\n", "line 3, column 'a': '1e39' is no number that f32 can hold"},
        {"a,b\n1,2\n1,0x10\n", "line 3, column 'b': '0x10' is no number"},
        {"a\n1\n", "has 1 column, inputs and labels are due"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mst_dataset *dataset;
        EXPECT_ERROR(mst_dataset_from_csv(folder_write_text("f.csv", cases[i].text), NULL, &dataset), MST_INVALID,
                     cases[i].message);
        assert_null(dataset);
    }
}

/* ---- cells that are missing ---- */

static const char holes[] =
    "rooms,area,city,price\n"
    "1,1.5,x,3\n"
    "NA,,,4\n"
    " n/a ,nan,NA,5\n"
    "4,null,x,6\n";

static void missing_numbers_are_nan_where_asked_for(void **state) {
    (void)state;
    mst_dataset *dataset;
    const mst_csv_options options = {.missing = MST_MISSING_NAN};
    EXPECT_OK(mst_dataset_from_csv(folder_write_text("h.csv", holes), &options, &dataset));
    mst_tensor *tensor = pipeline_column(dataset, 0);
    const float *value = mst_tensor_data(tensor);
    for (int row = 0; row < 4; row++)
        for (int column = 0; column < 2; column++)
            assert_int_equal(isnan(value[row * 3 + column]), column == 0 ? row == 1 || row == 2 : row > 0);
    assert_true(value[0] == 1 && value[9] == 4);
    mst_tensor_release(tensor);
    mst_dataset_release(dataset);
    EXPECT_ERROR(mst_dataset_from_csv(folder_path("h.csv"), NULL, &dataset), MST_INVALID,
                 "h.csv', line 3, column 'rooms': the number is missing");
    EXPECT_ERROR(mst_dataset_from_csv(folder_path("h.csv"),
                                      &(mst_csv_options){.label = "rooms", .missing = MST_MISSING_NAN}, &dataset),
                 MST_INVALID, "line 3, column 'rooms': the label is missing");
}

/* Of text, an empty cell and NA are categories like others. */
static void missing_text_is_a_category(void **state) {
    (void)state;
    mst_dataset *dataset;
    const mst_csv_options options = {.missing = MST_MISSING_NAN, .separate = true, .label = "city"};
    static const char text[] = "city,n\nx,1\nNA,2\n";
    EXPECT_OK(mst_dataset_from_csv(folder_write_text("t.csv", text), &options, &dataset));
    assert_int_equal(mst_dataset_num_classes(dataset, 1), 2);
    assert_string_equal(mst_dataset_class_name(dataset, 1, 0), "NA");
    mst_dataset_release(dataset);
}

static void unknown_categories_are_minus_one_where_asked_for(void **state) {
    (void)state;
    mst_dataset *dataset;
    const char *train = folder_write_text("a-train.csv", "x,y,z\nred,cat,1\nblue,dog,2\n");
    folder_write_text("a-test.csv", "x,y,z\npink,dog,1\nred,cat,2\n,cat,2\n");
    mst_csv_options options = {.label = "y", .unknown_categories = true};
    options.like = train;
    EXPECT_OK(mst_dataset_from_csv(folder_path("a-test.csv"), &options, &dataset));
    expect_f32(dataset, 0, (const float[]){-1, 1, 1, 2, -1, 2}, 6);
    mst_dataset_release(dataset);
    folder_write_text("a-test.csv", "x,y,z\nred,cow,1\n");
    EXPECT_ERROR(mst_dataset_from_csv(folder_path("a-test.csv"), &options, &dataset), MST_INVALID,
                 "category 'cow' was not there");
}

/* ---- columns that are left out ---- */

static void dropped_columns_are_as_if_they_were_not_there(void **state) {
    (void)state;
    mst_dataset *dataset;
    mst_csv_options options = {.drop = (const char *[]){"count", "color"}, .num_drop = 2};
    EXPECT_OK(mst_dataset_from_csv(folder_write_text("iris.csv", iris), &options, &dataset));
    assert_true(mst_shape_equal(mst_dataset_spec(dataset, 0).shape, MST_SHAPE(1)));
    expect_f32(dataset, 0, (const float[]){1.5f, 2, 30}, 3);
    expect_i64(dataset, 1, (const int64_t[]){2, 0, 1}, 3);
    assert_null(strstr(mst_dataset_schema(dataset), "\"color\""));
    mst_dataset_release(dataset);
    options.label = "color";
    EXPECT_ERROR(mst_dataset_from_csv(folder_path("iris.csv"), &options, &dataset), MST_INVALID,
                 "the column of labels, 'color', cannot be dropped too");
    options = (mst_csv_options){.drop = (const char *[]){"colour"}, .num_drop = 1};
    EXPECT_ERROR(mst_dataset_from_csv(folder_path("iris.csv"), &options, &dataset), MST_NOT_FOUND,
                 "has no column 'colour': its columns are 'width', 'color'");
    options = (mst_csv_options){.drop = (const char *[]){"width", "color", "class"}, .num_drop = 3};
    EXPECT_ERROR(mst_dataset_from_csv(folder_path("iris.csv"), &options, &dataset), MST_INVALID,
                 "has 1 column that is not dropped");
}

/* ---- gzip ---- */

/* gzip -9 of "a,b\n1,2\n3,4\n" */
static const unsigned char packed[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xff, 0x4b,
                                       0xd4, 0x49, 0xe2, 0x32, 0xd4, 0x31, 0xe2, 0x32, 0xd6, 0x31, 0xe1,
                                       0x02, 0x00, 0xe5, 0xe9, 0xd6, 0xce, 0x0c, 0x00, 0x00, 0x00};

static void gzip_is_decompressed(void **state) {
    (void)state;
    mst_dataset *dataset;
    const char *path = folder_write("t.csv", packed, sizeof packed);
    EXPECT_OK(mst_dataset_from_csv(path, NULL, &dataset));
    expect_f32(dataset, 0, (const float[]){1, 3}, 2);
    expect_i64(dataset, 1, (const int64_t[]){2, 4}, 2);
    mst_dataset_release(dataset);
    for (size_t size = 2; size < sizeof packed; size++)
        EXPECT_ERROR(mst_dataset_from_csv(folder_write("t.csv", packed, size), NULL, &dataset), MST_CORRUPT,
                     "t.csv': the compressed data is cut off");
}

/* ---- */

static void integers_too_large_are_floats(void **state) {
    (void)state;
    mst_dataset *dataset;
    EXPECT_OK(mst_dataset_from_csv(folder_write_text("f.csv", "a,b\n1,9223372036854775807\n"), NULL, &dataset));
    expect_i64(dataset, 1, (const int64_t[]){INT64_MAX}, 1);
    mst_dataset_release(dataset);
    EXPECT_OK(mst_dataset_from_csv(folder_write_text("f.csv", "a,b\n1,9223372036854775808\n"), NULL, &dataset));
    expect_f32(dataset, 1, (const float[]){0x1p63f}, 1);
    mst_dataset_release(dataset);
}

static void options_that_are_not_for_the_data_are_named(void **state) {
    (void)state;
    mst_dataset *dataset;
    char spec[512];
    snprintf(spec, sizeof spec, "csv:%s", folder_write_text("iris.csv", iris));
    const mst_data_options label = {.label = "class"}, other = {.label = "clas"}, skip = {.skip_corrupt = 1};
    EXPECT_OK(mst_dataset_open_with(spec, "train", &label, &dataset));
    assert_int_equal(mst_dataset_num_classes(dataset, 1), 3);
    mst_dataset_release(dataset);
    EXPECT_ERROR(mst_dataset_open_with(spec, "train", &other, &dataset), MST_NOT_FOUND, "has no column 'clas'");
    EXPECT_ERROR(mst_dataset_open_with(spec, "train", &skip, &dataset), MST_INVALID, "has no records");
    EXPECT_ERROR(mst_dataset_open_with("npz:a", "train", &label, &dataset), MST_INVALID, "label is for csv:FILE");
    EXPECT_ERROR(mst_dataset_open_with("tfrecord:a", "train", &label, &dataset), MST_INVALID, "label is for csv:FILE");
    EXPECT_ERROR(mst_dataset_open(spec, "test", &dataset), MST_NOT_FOUND, "is the train part");
    EXPECT_ERROR(mst_dataset_open("csv:/none", "train", &dataset), MST_NOT_FOUND, "no '/none-train.csv'");
}

static mst_status same(const mst_array *in, mst_array *out, void *context) {
    (void)context;
    memcpy(out[0].data, in[1].data, sizeof(int64_t));
    return MST_OK;
}

static void names_of_classes_stay_until_a_map(void **state) {
    (void)state;
    mst_dataset *dataset, *made, *named, *mapped;
    EXPECT_OK(
        mst_dataset_from_csv(folder_write_text("iris.csv", iris), &(mst_csv_options){.label = "class"}, &dataset));
    THEN(dataset, mst_dataset_shuffle(dataset, NULL, &made));
    THEN(dataset, mst_dataset_scale(dataset, 0, MST_F32, 2, &made));
    THEN(dataset, mst_dataset_batch(dataset, 2, false, &made));
    assert_string_equal(mst_dataset_class_name(dataset, 1, 1), "versicolor");
    EXPECT_OK(mst_dataset_name_classes(dataset, 0, (const char *[]){"no", "yes"}, 2, &named));
    assert_string_equal(mst_dataset_class_name(named, 0, 1), "yes");
    assert_string_equal(mst_dataset_class_name(named, 1, 1), "versicolor");
    EXPECT_OK(mst_dataset_map(named, same, NULL, (const mst_spec[]){{MST_I64, MST_SCALAR}}, 1, &mapped));
    assert_null(mst_dataset_class_name(mapped, 0, 0));
    EXPECT_ERROR(mst_dataset_name_classes(dataset, 2, (const char *[]){"no"}, 1, &made), MST_INVALID, "component 2");
    EXPECT_ERROR(mst_dataset_name_classes(dataset, 1, (const char *[]){"no", NULL}, 2, &made), MST_INVALID,
                 "name 1 is NULL");
    mst_dataset_release(mapped);
    mst_dataset_release(named);
    mst_dataset_release(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(columns_become_inputs_and_the_label_named),
        TEST_IN_FOLDER(a_text_column_is_all_inputs),
        TEST_IN_FOLDER(the_last_column_is_the_label_where_none_is_named),
        TEST_IN_FOLDER(columns_can_be_components_of_their_own),
        TEST_IN_FOLDER(columns_may_stay_strings),
        TEST_IN_FOLDER(a_test_part_has_the_numbers_of_the_train_part),
        TEST_IN_FOLDER(cells_that_are_no_such_number_are_named),
        TEST_IN_FOLDER(integers_too_large_are_floats),
        TEST_IN_FOLDER(missing_numbers_are_nan_where_asked_for),
        TEST_IN_FOLDER(missing_text_is_a_category),
        TEST_IN_FOLDER(unknown_categories_are_minus_one_where_asked_for),
        TEST_IN_FOLDER(dropped_columns_are_as_if_they_were_not_there),
        TEST_IN_FOLDER(gzip_is_decompressed),
        TEST_IN_FOLDER(options_that_are_not_for_the_data_are_named),
        TEST_IN_FOLDER(names_of_classes_stay_until_a_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
