/* Text files as a source: a folder for each class; a file for each class, whose texts are separated by lines of % as
 * in the files of `fortune`; and a single file. Also the errors in such files. */
#include <stdio.h>
#include <sys/stat.h>

#include "muster/dataset.h"
#include "support/folder.h"
#include "support/test.h"

static void make_folder(const char *name) {
    assert_int_equal(mkdir(folder_path(name), 0700), 0);
}

/* The rows of the texts at PATH, "class:text|", as one text. */
static void expect_rows(const mst_texts_options *options, const char *path, const char *expected) {
    enum { SIZE = 512 };
    char got[SIZE] = "";
    mst_dataset *texts;
    mst_iterator *it;
    const mst_batch *batch;
    EXPECT_OK(mst_dataset_from_texts(path, options, &texts));
    EXPECT_OK(mst_iterator_create(texts, 0, &it));
    for (;;) {
        mst_string text;
        int64_t label = -1;
        EXPECT_OK(mst_iterator_next(it, &batch));
        if (!batch) break;
        EXPECT_OK(mst_batch_copy(batch, 0, 0, 1, &text));
        if (mst_dataset_num_components(texts) > 1) EXPECT_OK(mst_batch_copy(batch, 1, 0, 1, &label));
        const size_t used = strlen(got);
        const char *name = label < 0 ? "-" : mst_dataset_class_name(texts, 1, label);
        snprintf(got + used, SIZE - used, "%s:%.*s|", name, (int)text.length, text.data);
    }
    assert_string_equal(got, expected);
    mst_iterator_destroy(it);
    mst_dataset_release(texts);
}

static void each_file_in_a_class_folder_is_a_text(void **state) {
    (void)state;
    make_folder("b");
    make_folder("a");
    make_folder(".git");
    folder_write_text("b/2", "two\n%\n");
    folder_write_text("b/1.txt", "\xef\xbb\xbfone");
    folder_write_text("a/x", "");
    folder_write_text("README", "is no class");
    expect_rows(NULL, folder_path(""), "a:|b:one|b:two\n%\n|");
}

static void rows_know_the_files_that_are_texts(void **state) {
    (void)state;
    mst_dataset *texts, *numbers;
    int64_t n = 0;
    make_folder("a");
    make_folder("b");
    folder_write_text("a/1", "one two");
    folder_write_text("b/2", "three");
    folder_write_text("c", "four\n%\nfive\n");
    EXPECT_OK(mst_dataset_from_texts(folder_path(""), NULL, &texts));
    EXPECT_OK(mst_dataset_vectorize_text(texts, NULL, &numbers));
    const char *const *paths = mst_dataset_file_paths(numbers, &n);
    assert_non_null(paths);
    assert_int_equal(n, 2);
    assert_string_equal(paths[0], folder_path("a/1"));
    assert_string_equal(paths[1], folder_path("b/2"));
    assert_string_equal(mst_dataset_class_name(numbers, 1, 1), "b");
    assert_non_null(mst_dataset_schema(numbers));
    mst_dataset_release(numbers);
    mst_dataset_release(texts);
    EXPECT_OK(mst_dataset_from_texts(folder_path("c"), NULL, &texts));
    assert_null(mst_dataset_file_paths(texts, &n));
    mst_dataset_release(texts);
}

static void texts_of_a_file_are_between_lines_of_percent(void **state) {
    (void)state;
    folder_write_text("tao", "%\nfirst\n50% off\n%%\n% \r\nsecond\n%\n\n \n%\nlast");
    folder_write_text("art", "one\n%\n");
    folder_write_text("art.dat", "\1\2");
    folder_write_text("art.u8", "again");
    make_folder("off");
    folder_write_text("off/art", "one");
    expect_rows(NULL, folder_path(""), "art:one\n|tao:first\n50% off\n%%\n|tao:second\n|tao:last|");
    expect_rows(NULL, folder_path("art"), "-:one\n|");
}

static void a_schema_numbers_the_classes(void **state) {
    (void)state;
    mst_dataset *first;
    const char *schema;
    make_folder("train");
    make_folder("test");
    folder_write_text("train/a", "one");
    folder_write_text("train/b", "two");
    folder_write_text("test/b", "three");
    EXPECT_OK(mst_dataset_from_texts(folder_path("train"), NULL, &first));
    schema = mst_dataset_schema(first);
    expect_rows(&(mst_texts_options){.schema = schema}, folder_path("test"), "b:three|");
    mst_dataset *other;
    EXPECT_OK(mst_dataset_from_texts(folder_path("test"), &(mst_texts_options){.schema = schema}, &other));
    assert_int_equal(mst_dataset_num_classes(other, 1), 2);
    assert_string_equal(mst_dataset_schema(other), schema);
    mst_dataset_release(other);
    make_folder("new");
    folder_write_text("new/1.txt", "five\n%\nsix");
    folder_write_text("new/0.txt", "seven");
    expect_rows(&(mst_texts_options){.schema = schema}, folder_path("new"), "-:seven|-:five\n%\nsix|");
    folder_write_text("new/a", "eight"); /* a class: so the others are to be classes too */
    EXPECT_ERROR(mst_dataset_from_texts(folder_path("new"), &(mst_texts_options){.schema = schema}, &other),
                 MST_INVALID, "/new/0.txt': class '0.txt' was not there in training");
    folder_write_text("test/c", "four");
    EXPECT_ERROR(mst_dataset_from_texts(folder_path("test"), &(mst_texts_options){.schema = schema}, &other),
                 MST_INVALID, "/c': class 'c' was not there in training");
    mst_dataset_release(first);
}

static void what_has_no_texts_is_an_error(void **state) {
    (void)state;
    mst_dataset *texts;
    make_folder("empty");
    make_folder("blank");
    folder_write_text("blank/a", " \n%\n");
    EXPECT_ERROR(mst_dataset_from_texts(folder_path("gone"), NULL, &texts), MST_NOT_FOUND, "gone");
    EXPECT_ERROR(mst_dataset_from_texts(folder_path("empty"), NULL, &texts), MST_NOT_FOUND, "has no texts");
    EXPECT_ERROR(mst_dataset_from_texts(folder_path("blank"), NULL, &texts), MST_NOT_FOUND, "has no texts");
    EXPECT_ERROR(mst_dataset_from_texts(folder_path("blank"), &(mst_texts_options){.schema = "{}"}, &texts),
                 MST_INVALID, "schema");
    folder_write_text("blank/b", "caf\xe9");
    EXPECT_ERROR(mst_dataset_from_texts(folder_path(""), NULL, &texts), MST_INVALID, "/blank/b': byte 3, 0xe9");
    assert_null(texts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(each_file_in_a_class_folder_is_a_text),
        TEST_IN_FOLDER(rows_know_the_files_that_are_texts),
        TEST_IN_FOLDER(texts_of_a_file_are_between_lines_of_percent),
        TEST_IN_FOLDER(a_schema_numbers_the_classes),
        TEST_IN_FOLDER(what_has_no_texts_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
