/* Word numbers in NumPy's archives: the order and the numbers of load_data, both parts, and errors in a file.
 * test/parity/word_ids_test.py compares large files with Keras. */
#include <stdlib.h>

#include "format/npz.h"
#include "support/archive.h"
#include "support/folder.h"
#include "support/test.h"

/* Pickles of N texts, or of N labels. Text I has I mod 3 + 1 numbers: FIRST + I, FIRST + I + 300 and so on. Label I is
 * FIRST + I. */
static void pickle_begin(blob *b, int n) {
    static const char begin[] =
        "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85"
        "C\x01"
        "b\x87R(K\x01J";
    static const char dtype[] =
        "\x85"
        "cnumpy\ndtype\nU\x02O8\x89\x88\x87R\x89](";
    blob_add(b, begin, sizeof begin - 1);
    blob_little(b, (uint64_t)n, 4);
    blob_add(b, dtype, sizeof dtype - 1);
}

static void pickle_integer(blob *b, int64_t number) {
    blob_add(b, "\x8a\x08", 2);
    blob_little(b, (uint64_t)number, 8);
}

static void add_array(zip_maker *zip, const char *name, int n, const blob *pickle) {
    char header[200];
    blob npy = {0};
    snprintf(header, sizeof header, "{'descr': '|O', 'fortran_order': False, 'shape': (%d,), }\n", n);
    blob_npy(&npy, 1, header, pickle->data, pickle->size);
    zip_add(zip, name, &npy, 8);
    blob_free(&npy);
}

static void add_texts(zip_maker *zip, const char *name, int n, int64_t first) {
    blob pickle = {0};
    pickle_begin(&pickle, n);
    for (int i = 0; i < n; i++) {
        blob_add(&pickle, "](", 2);
        for (int k = 0; k <= i % 3; k++) pickle_integer(&pickle, first + i + 300 * k);
        blob_add(&pickle, "e", 1);
    }
    blob_add(&pickle, "etb.", 4);
    add_array(zip, name, n, &pickle);
    blob_free(&pickle);
}

static void add_labels(zip_maker *zip, const char *name, int n, int64_t first) {
    blob pickle = {0};
    pickle_begin(&pickle, n);
    for (int i = 0; i < n; i++) pickle_integer(&pickle, first + i);
    blob_add(&pickle, "etb.", 4);
    add_array(zip, name, n, &pickle);
    blob_free(&pickle);
}

static const char *finish(zip_maker *zip) {
    zip_end(zip);
    const char *path = folder_write("w.npz", zip->file.data, zip->file.size);
    zip_free(zip);
    return path;
}

static const char *write_file(int num_texts, int num_labels, int64_t first) {
    zip_maker zip = {.num_entries = 0};
    add_texts(&zip, "x.npy", num_texts, first);
    add_labels(&zip, "y.npy", num_labels, 0);
    return finish(&zip);
}

static void expect_label_and_text(mst_dataset *rows, int64_t i, int64_t label, int n, const int32_t *text) {
    mst_iterator *it;
    const mst_batch *batch;
    mst_tensor *numbers, *found;
    EXPECT_OK(mst_iterator_create(rows, 0, &it));
    EXPECT_OK(mst_iterator_skip(it, i));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_OK(mst_batch_tensor(batch, 0, &numbers));
    EXPECT_OK(mst_batch_tensor(batch, 1, &found));
    assert_int_equal(*(int64_t *)mst_tensor_data(found), label);
    assert_int_equal(mst_tensor_count(numbers), n);
    assert_memory_equal(mst_tensor_data(numbers), text, (size_t)n * sizeof *text);
    mst_tensor_release(numbers);
    mst_tensor_release(found);
    mst_iterator_destroy(it);
}

/* numpy.random.RandomState(113).shuffle of arange(10) gives 9 3 6 1 0 7 4 8 2 5; the largest
 * number, 612 of text 8, is none of those below it. */
static void texts_come_in_the_order_and_with_the_numbers_of_load_data(void **state) {
    (void)state;
    const char *path = write_file(10, 10, 1);
    mst_dataset *train, *test;
    EXPECT_OK(mst_dataset_from_word_ids(path, NULL, &train));
    EXPECT_OK(mst_dataset_from_word_ids(path, &(mst_word_ids_options){.test = true}, &test));
    assert_int_equal(mst_dataset_num_rows(train), 8);
    assert_int_equal(mst_dataset_num_rows(test), 2);
    expect_label_and_text(train, 0, 9, 2, (const int32_t[]){1, 13});
    expect_label_and_text(train, 1, 3, 2, (const int32_t[]){1, 7});
    expect_label_and_text(train, 7, 8, 4, (const int32_t[]){1, 12, 312, 2});
    expect_label_and_text(test, 0, 2, 4, (const int32_t[]){1, 6, 306, 606});
    expect_label_and_text(test, 1, 5, 4, (const int32_t[]){1, 9, 309, 609});
    mst_dataset_release(train);
    mst_dataset_release(test);
}

static void options_leave_words_and_texts_out(void **state) {
    (void)state;
    const mst_word_ids_options o = {.num_words = 305, .skip_top = 5, .max_length = 4, .test_split = 0.5};
    const char *path = write_file(9, 9, 1);
    mst_dataset *rows;
    EXPECT_OK(mst_dataset_from_word_ids(path, &o, &rows));
    assert_int_equal(mst_dataset_num_rows(rows), 3); /* half of the 6 texts of one or two words */
    mst_dataset_release(rows);
    EXPECT_ERROR(mst_dataset_from_word_ids(path, &(mst_word_ids_options){.max_length = 2}, &rows), MST_INVALID,
                 "no text is left for the train part");
}

static void parts_of_their_own_arrays_are_taken(void **state) {
    (void)state;
    zip_maker zip = {.num_entries = 0};
    mst_dataset *rows;
    add_texts(&zip, "x_train.npy", 5, 1);
    add_labels(&zip, "y_train.npy", 5, 0);
    add_texts(&zip, "x_test.npy", 3, 20);
    add_labels(&zip, "y_test.npy", 3, 100);
    const char *path = finish(&zip);
    EXPECT_OK(mst_dataset_from_word_ids(path, NULL, &rows));
    assert_int_equal(mst_dataset_num_rows(rows), 5);
    mst_dataset_release(rows);
    EXPECT_OK(mst_dataset_from_word_ids(path, &(mst_word_ids_options){.test = true}, &rows));
    assert_int_equal(mst_dataset_num_rows(rows), 3);
    mst_dataset_release(rows);
}

/* Batches of padded rows, the same with the schema of the first data. */
static void a_spec_pads_to_one_length_and_keeps_it_in_the_schema(void **state) {
    (void)state;
    char spec[4096];
    mst_dataset *train, *again;
    snprintf(spec, sizeof spec, "word-ids:%s", write_file(10, 10, 1));
    EXPECT_OK(mst_dataset_open(spec, "train", &train));
    assert_true(mst_shape_equal(mst_dataset_spec(train, 0).shape, MST_SHAPE(4))); /* the start, and three words */
    mst_dataset_release(train);
    const mst_data_options o = {.sequence_length = 3, .max_tokens = 100, .pad_front = true};
    EXPECT_OK(mst_dataset_open_with(spec, "train", &o, &train));
    EXPECT_OK(mst_dataset_open_with(spec, "test", &(mst_data_options){.schema = mst_dataset_schema(train)}, &again));
    assert_true(mst_shape_equal(mst_dataset_spec(again, 0).shape, MST_SHAPE(3)));
    assert_int_equal(mst_dataset_num_classes(again, 0), 100);
    assert_string_equal(mst_dataset_class_name(again, 0, 42), "42");
    expect_label_and_text(train, 0, 9, 3, (const int32_t[]){0, 1, 13});
    expect_label_and_text(again, 0, 2, 3, (const int32_t[]){1, 6, 2});
    mst_dataset_release(again);
    EXPECT_ERROR(mst_dataset_open_with(spec, "test", &(mst_data_options){.schema = "{\"columns\": []}"}, &again),
                 MST_INVALID, "not of numbers of words");
    mst_dataset_release(train);
}

static void expect_refused(const char *path, mst_status code, const char *text) {
    mst_dataset *rows;
    EXPECT_ERROR(mst_dataset_from_word_ids(path, NULL, &rows), code, text);
    assert_null(rows);
}

static void what_is_wrong_is_named(void **state) {
    (void)state;
    expect_refused(write_file(5, 4, 1), MST_INVALID,
                   "array 'x' has 5 texts, so 'y' must have as many integers, it has 4");
    expect_refused(write_file(5, 5, -3), MST_INVALID, "text 0 of array 'x' has the number -3");
    expect_refused(write_file(5, 5, (int64_t)1 << 31), MST_INVALID, "has the number 2147483648");
    zip_maker zip = {.num_entries = 0};
    add_labels(&zip, "x.npy", 3, 1);
    add_labels(&zip, "y.npy", 3, 1);
    expect_refused(finish(&zip), MST_INVALID, "array 'x' is of integers");
    zip = (zip_maker){.num_entries = 0};
    add_texts(&zip, "x.npy", 3, 1);
    expect_refused(finish(&zip), MST_NOT_FOUND, "has no array 'y'");
    zip = (zip_maker){.num_entries = 0};
    blob pickle = {0};
    blob_add(&pickle, "cos\nsystem\n.", 12);
    add_array(&zip, "x.npy", 3, &pickle);
    blob_free(&pickle);
    expect_refused(finish(&zip), MST_UNIMPLEMENTED, "w.npz' array 'x': asks for 'os.system'");
    mst_dataset *rows;
    const char *const names[] = {"x"};
    EXPECT_ERROR(mst_dataset_from_npz(write_file(5, 5, 1), names, 1, &rows), MST_UNIMPLEMENTED, "'|O'");
    EXPECT_ERROR(mst_dataset_from_word_ids("a", &(mst_word_ids_options){.test_split = 1}, &rows), MST_INVALID,
                 "must be between 0 and 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(texts_come_in_the_order_and_with_the_numbers_of_load_data),
        TEST_IN_FOLDER(options_leave_words_and_texts_out),
        TEST_IN_FOLDER(parts_of_their_own_arrays_are_taken),
        TEST_IN_FOLDER(a_spec_pads_to_one_length_and_keeps_it_in_the_schema),
        TEST_IN_FOLDER(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
