/* Schemas: data that are read after the training get the same category numbers as the data of the training. */
#include <string.h>

#include "data/schema.h"
#include "support/folder.h"
#include "support/pipeline.h"
#include "support/test.h"

static const char train[] =
    "size,color,class\n"
    "1.5,red,virginica\n"
    "2,blue,setosa\n"
    "30,caf\xe9,versicolor\n";

static void expect_values(mst_dataset *dataset, int i, const double *values, int64_t n) {
    mst_tensor *tensor = pipeline_column(dataset, i);
    assert_int_equal(mst_tensor_count(tensor), n);
    for (int64_t k = 0; k < n; k++) assert_true(mst_tensor_get(tensor, k) == values[k]);
    mst_tensor_release(tensor);
}

/* That of the training's file, to be freed. */
static char *schema_of_training(const mst_csv_options *options) {
    mst_dataset *dataset;
    EXPECT_OK(mst_dataset_from_csv(folder_write_text("train.csv", train), options, &dataset));
    assert_non_null(mst_dataset_schema(dataset));
    char *text = strdup(mst_dataset_schema(dataset));
    mst_dataset_release(dataset);
    return text;
}

static void other_rows_have_the_numbers_of_the_training(void **state) {
    (void)state;
    mst_dataset *dataset;
    char *schema = schema_of_training(NULL);
    /* one category only, an integer where there were floats, and columns in another order */
    folder_write_text("new.csv", "color,class,size\ncaf\xe9,virginica,7\n");
    EXPECT_OK(mst_dataset_from_csv(folder_path("new.csv"), &(mst_csv_options){.schema = schema}, &dataset));
    expect_values(dataset, 0, (const double[]){7, 1}, 2);
    expect_values(dataset, 1, (const double[]){2}, 1);
    assert_string_equal(mst_dataset_class_name(dataset, 1, 0), "setosa");
    assert_int_equal(mst_dataset_num_classes(dataset, 1), 3);
    assert_string_equal(mst_dataset_schema(dataset), schema); /* and can be handed on */
    mst_dataset_release(dataset);
    free(schema);
}

static void file_without_labels_gives_the_inputs(void **state) {
    (void)state;
    mst_dataset *dataset;
    char *schema = schema_of_training(NULL);
    folder_write_text("new.csv", "color,size\nred,7\nblue,8\n");
    EXPECT_OK(mst_dataset_from_csv(folder_path("new.csv"), &(mst_csv_options){.schema = schema}, &dataset));
    assert_int_equal(mst_dataset_num_components(dataset), 1);
    expect_values(dataset, 0, (const double[]){7, 2, 8, 0}, 4);
    mst_dataset_release(dataset);
    EXPECT_OK(
        mst_dataset_from_csv(folder_path("new.csv"), &(mst_csv_options){.schema = schema, .separate = true}, &dataset));
    assert_int_equal(mst_dataset_num_components(dataset), 2);
    expect_values(dataset, 1, (const double[]){2, 0}, 2);
    mst_dataset_release(dataset);
    free(schema);
}

static void numeric_categories_stay_categories(void **state) {
    (void)state;
    mst_dataset *dataset;
    static const char *const categories[] = {"code"};
    mst_csv_options options = {.categories = categories, .num_categories = 1, .separate = true};
    EXPECT_OK(mst_dataset_from_csv(folder_write_text("a.csv", "code,y\n7,1\n11,2\n"), &options, &dataset));
    char *schema = strdup(mst_dataset_schema(dataset));
    mst_dataset_release(dataset);
    options = (mst_csv_options){.schema = schema, .separate = true};
    EXPECT_OK(mst_dataset_from_csv(folder_write_text("b.csv", "code,y\n7,5\n"), &options, &dataset));
    expect_values(dataset, 0, (const double[]){1}, 1);
    mst_dataset_release(dataset);
    free(schema);
}

static void columns_and_categories_unknown_to_the_training_are_named(void **state) {
    (void)state;
    mst_dataset *dataset;
    char *schema = schema_of_training(NULL);
    const mst_csv_options options = {.schema = schema};
    folder_write_text("new.csv", "size,color,class\n7,green,setosa\n");
    EXPECT_ERROR(mst_dataset_from_csv(folder_path("new.csv"), &options, &dataset), MST_INVALID,
                 "line 2, column 'color': category 'green' was not there in training: there is 'blue', ");
    folder_write_text("new.csv", "size,color,class\n7,red,owl\n");
    EXPECT_ERROR(mst_dataset_from_csv(folder_path("new.csv"), &options, &dataset), MST_INVALID,
                 "column 'class': category 'owl' was not there in training: there is 'setosa', 'versicolor', 'virgi");
    folder_write_text("new.csv", "size,class\n7,setosa\n");
    EXPECT_ERROR(mst_dataset_from_csv(folder_path("new.csv"), &options, &dataset), MST_NOT_FOUND, "no column 'color'");
    folder_write_text("new.csv", "size,color\nwide,red\n");
    EXPECT_ERROR(mst_dataset_from_csv(folder_path("new.csv"), &options, &dataset), MST_INVALID, "'wide' is no number");
    const mst_csv_options other = {.schema = schema, .label = "color"};
    EXPECT_ERROR(mst_dataset_from_csv(folder_path("new.csv"), &other, &dataset), MST_INVALID,
                 "was 'class' in training");
    const mst_csv_options both = {.schema = schema, .like = folder_path("train.csv")};
    EXPECT_ERROR(mst_dataset_from_csv(folder_path("new.csv"), &both, &dataset), MST_INVALID,
                 "leave out .like, .categories, .texts, .drop and .dates");
    assert_null(dataset);
    free(schema);
}

static void text_that_is_no_schema_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "3",
        "{}",
        "{\"columns\": []}",
        "{\"columns\": {\"a\": 1}}",
        "{\"columns\": [1, 2]}",
        "{\"columns\": [{\"name\": \"a\", \"type\": \"float\"}]}",
        "{\"columns\": [{\"name\": \"a\", \"type\": \"flat\"}, {\"name\": \"y\", \"type\": \"float\"}]}",
        "{\"columns\": [{\"name\": \"a\", \"type\": \"category\"}, {\"name\": \"y\", \"type\": \"float\"}]}",
        "{\"columns\": [{\"name\": \"a\", \"type\": \"category\", \"categories\": []}, {\"name\": \"y\", \"type\": "
        "\"float\"}]}",
        "{\"columns\": [{\"name\": \"a\", \"type\": \"category\", \"categories\": [\"b\", \"a\"]},"
        " {\"name\": \"y\", \"type\": \"float\"}]}",
        "{\"columns\": [{\"name\": {\"hex\": \"4\"}, \"type\": \"float\"}, {\"name\": {\"hex\": \"zz\"}, \"type\": "
        "\"float\"}]}"};
    mst_dataset *dataset;
    folder_write_text("new.csv", "a,y\n1,2\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        EXPECT_ERROR(mst_dataset_from_csv(folder_path("new.csv"), &(mst_csv_options){.schema = texts[i]}, &dataset),
                     MST_INVALID, "schema: ");
        assert_null(dataset);
    }
}

static void table_alone_is_a_test_part_with_the_schema(void **state) {
    (void)state;
    mst_dataset *dataset;
    char *schema = schema_of_training(NULL);
    const mst_data_options options = {.schema = schema};
    char spec[512];
    EXPECT_ERROR(mst_dataset_open_with("npz:a.npz", "test", &options, &dataset), MST_NOT_FOUND, "a.npz");
    /* a file alone is a test part too */
    snprintf(spec, sizeof spec, "csv:%s", folder_path("train.csv"));
    EXPECT_ERROR(mst_dataset_open(spec, "test", &dataset), MST_NOT_FOUND, "is the train part");
    EXPECT_OK(mst_dataset_open_with(spec, "test", &options, &dataset));
    assert_int_equal(mst_dataset_num_rows(dataset), 3);
    mst_dataset_release(dataset);
    free(schema);
}

static mst_status first(const mst_array *in, mst_array *out, void *context) {
    (void)context;
    memcpy(out[0].data, in[0].data, 2 * sizeof(float));
    return MST_OK;
}

static void schema_goes_through_transforms_but_not_through_a_map(void **state) {
    (void)state;
    mst_dataset *rows, *taken, *batches, *cached, *mapped;
    EXPECT_OK(mst_dataset_from_csv(folder_write_text("train.csv", train), NULL, &rows));
    EXPECT_OK(mst_dataset_take(rows, 2, &taken));
    EXPECT_OK(mst_dataset_batch(taken, 2, false, &batches));
    EXPECT_OK(mst_dataset_cache(rows, &cached));
    assert_string_equal(mst_dataset_schema(batches), mst_dataset_schema(rows));
    assert_string_equal(mst_dataset_schema(cached), mst_dataset_schema(rows));
    EXPECT_OK(mst_dataset_map(cached, first, NULL, &(mst_spec){MST_F32, MST_SHAPE(2)}, 1, &mapped));
    assert_null(mst_dataset_schema(mapped));
    mst_dataset_release(mapped);
    mst_dataset_release(cached);
    mst_dataset_release(batches);
    mst_dataset_release(taken);
    mst_dataset_release(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(other_rows_have_the_numbers_of_the_training),
        TEST_IN_FOLDER(file_without_labels_gives_the_inputs),
        TEST_IN_FOLDER(numeric_categories_stay_categories),
        TEST_IN_FOLDER(columns_and_categories_unknown_to_the_training_are_named),
        TEST_IN_FOLDER(text_that_is_no_schema_is_refused),
        TEST_IN_FOLDER(table_alone_is_a_test_part_with_the_schema),
        TEST_IN_FOLDER(schema_goes_through_transforms_but_not_through_a_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
