/* mst_dataset_relearn: a fold is what the table of its rows alone would be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "muster/data.h"
#include "support/folder.h"
#include "support/pipeline.h"
#include "support/test.h"

enum { ROWS = 30, FOLDS = 5 };
static const char *const header = "row,city,words,kind\n";

/* Line ROW of the table: some cities and words are in one row alone. */
static void write_line(FILE *file, int row) {
    fprintf(file, "%d,%s%d,%s own%d,%s\n", row, row % 3 ? "town" : "village", row % 3 ? row % 2 : row,
            row % 2 ? "good" : "bad", row, row % 5 < 2 ? "no" : "yes");
}

/* Writes the N lines ROWS to the file NAME; NULL: the first N. Returns its path. */
static const char *write_rows(const char *name, const double *rows, int64_t n) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    fputs(header, file);
    for (int64_t i = 0; i < n; i++) write_line(file, rows ? (int)rows[i] : (int)i);
    assert_int_equal(fclose(file), 0);
    const char *path = folder_write_text(name, text);
    free(text);
    return path;
}

static void expect_same(mst_dataset *a, mst_dataset *b) {
    assert_int_equal(mst_dataset_num_rows(a), mst_dataset_num_rows(b));
    assert_int_equal(mst_dataset_num_components(a), mst_dataset_num_components(b));
    for (int i = 0; i < mst_dataset_num_components(a); i++) {
        mst_tensor *x = pipeline_column(a, i), *y = pipeline_column(b, i);
        assert_int_equal(mst_tensor_count(x), mst_tensor_count(y));
        for (int64_t k = 0; k < mst_tensor_count(x); k++) assert_true(mst_tensor_get(x, k) == mst_tensor_get(y, k));
        mst_tensor_release(x);
        mst_tensor_release(y);
    }
    assert_string_equal(mst_dataset_schema(a), mst_dataset_schema(b));
    assert_int_equal(mst_dataset_num_classes(a, 1), 2);
    assert_string_equal(mst_dataset_class_name(a, 1, 1), mst_dataset_class_name(b, 1, 1));
}

/* The numbers of the rows in PART, a table whose column 0 they are. */
static int64_t row_numbers(mst_dataset *part, double *rows) {
    mst_tensor *inputs = pipeline_column(part, 0);
    const int64_t n = mst_dataset_num_rows(part), width = mst_tensor_count(inputs) / n;
    for (int64_t i = 0; i < n; i++) rows[i] = mst_tensor_get(inputs, i * width);
    mst_tensor_release(inputs);
    return n;
}

/* Compares fold FOLD of the table, read with O, with the tables of its rows. */
static void compare_fold(int fold, mst_data_options o) {
    mst_dataset *all, *table, *part[2], *by_rows[2], *out[2], *want[2];
    const mst_split_options split = {.num_folds = FOLDS, .fold = fold, .labels = 1};
    char spec[3][4096];
    double rows[ROWS];
    snprintf(spec[0], sizeof spec[0], "csv:%s", write_rows("whole.csv", NULL, ROWS));
    EXPECT_OK(mst_dataset_open(spec[0], "train", &table));
    EXPECT_OK(mst_dataset_open_with(spec[0], "train", &o, &all));
    EXPECT_OK(mst_dataset_split(all, &split, &part[0], &part[1], NULL));
    EXPECT_OK(mst_dataset_split(table, &split, &by_rows[0], &by_rows[1], NULL));
    for (int i = 0; i < 2; i++) {
        const int64_t n = row_numbers(by_rows[i], rows);
        snprintf(spec[i + 1], sizeof spec[0], "csv:%s", write_rows(i ? "rest.csv" : "train.csv", rows, n));
    }
    EXPECT_OK(mst_dataset_relearn(part, 2, out));
    EXPECT_OK(mst_dataset_open_with(spec[1], "train", &o, &want[0]));
    o.schema = mst_dataset_schema(want[0]);
    o.unknown_categories = true;
    EXPECT_OK(mst_dataset_open_with(spec[2], "test", &o, &want[1]));
    for (int i = 0; i < 2; i++) expect_same(out[i], want[i]);
    mst_dataset *const done[] = {all,        table,  part[0], part[1], by_rows[0],
                                 by_rows[1], out[0], out[1],  want[0], want[1]};
    for (size_t i = 0; i < sizeof done / sizeof *done; i++) mst_dataset_release(done[i]);
}

static void fold_of_a_table_has_the_categories_of_its_rows(void **state) {
    (void)state;
    for (int fold = 0; fold < FOLDS; fold++) compare_fold(fold, (mst_data_options){.num_drop = 0});
}

static void fold_of_texts_has_the_words_of_its_rows(void **state) {
    (void)state;
    for (int fold = 0; fold < FOLDS; fold++)
        compare_fold(fold,
                     (mst_data_options){.text = "words", .sequence_length = 4, .max_tokens = 20, .keep_texts = true});
}

static void other_data_stays_as_it_is(void **state) {
    (void)state;
    mst_dataset *data = pipeline_numbers(10), *out[2];
    EXPECT_OK(mst_dataset_relearn((mst_dataset *const[]){data, data}, 2, out));
    for (int i = 0; i < 2; i++) {
        assert_ptr_equal(out[i], data);
        mst_dataset_release(out[i]);
    }
    mst_dataset_release(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(fold_of_a_table_has_the_categories_of_its_rows),
        TEST_IN_FOLDER(fold_of_texts_has_the_words_of_its_rows),
        cmocka_unit_test(other_data_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
