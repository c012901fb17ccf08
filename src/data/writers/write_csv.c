/* Writes csv:FILE.csv, a table with a header; or csv:PREFIX as PREFIX-train.csv and PREFIX-test.csv. Columns have the
 * names and categories of the dataset's schema if it has one. Numbers are written so that reading them gives the same
 * bits. Cells are quoted where RFC 4180 requires it. Files are written under another name, and then renamed. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/long_work.h"
#include "base/no_memory.h"
#include "base/number.h"
#include "data/sources/csv_column.h"
#include "data/writers/write.h"

enum { PATH_SIZE = 4096, FLUSH = 1 << 20 };

/* The part (train or test) that is being written, and its file. */
typedef struct table {
    mst_dataset *rows;
    mst_tensor *cell[2]; /* the components of one row */
    mst_schema schema;   /* columns for the inputs and the label; or empty */
    mst_file file;
    char *text; /* lines that are not yet in the file */
    int64_t size, capacity, row;
} table;

/* ---- cells ---- */

static mst_status write_csv_add(table *t, const char *text, size_t size) {
    MST_TRY(mst_grow(&t->text, 1, t->size + (int64_t)size, &t->capacity));
    memcpy(t->text + t->size, text, size);
    t->size += (int64_t)size;
    return MST_OK;
}

/* Adds a text, in quotes if RFC 4180 requires them. A text that begins or ends with a space is quoted too, since some
 * programs remove such spaces. */
static mst_status add_text(table *t, const char *text) {
    const size_t size = strlen(text);
    const bool ends = size && (text[0] == ' ' || text[size - 1] == ' ');
    if (size && !ends && !strpbrk(text, ",\"\r\n")) return write_csv_add(t, text, size);
    MST_TRY(write_csv_add(t, "\"", 1));
    for (; *text; text++) MST_TRY(write_csv_add(t, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1));
    return write_csv_add(t, "\"", 1);
}

/* Whether label I is one of several, and was read from a column of integers. */
static bool is_integers(const table *t, int64_t i) {
    const int n = t->schema.num_labels;
    return n > 1 && strcmp(t->schema.column[t->schema.num_columns - n + i].type, "integer") == 0;
}

/* A label that is a float stays one: 2 is written as 2.0. */
static mst_status add_float(table *t, int component, int64_t i, double value) {
    char text[MST_NUMBER_TEXT + 2];
    if (!isfinite(value))
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "csv: a number of row %lld (%s %lld) is NaN or infinite, which tables do not have",
                        (long long)t->row, component ? "label" : "column", (long long)i);
    if (mst_tensor_dtype(t->cell[component]) == MST_F64)
        mst_number_print_f64(value, text);
    else
        mst_number_print_f32((float)value, text);
    if (component && !is_integers(t, i) && !strpbrk(text, ".e")) memcpy(text + strlen(text), ".0", 3);
    return write_csv_add(t, text, strlen(text));
}

static mst_status add_class(table *t, int64_t label) {
    const char *name = mst_dataset_class_name(t->rows, 1, label);
    if (name) return add_text(t, name);
    return MST_FAIL(MST_INVALID, "csv: label %lld of row %lld is of no class that has a name", (long long)label,
                    (long long)t->row);
}

static mst_status add_category(table *t, const mst_schema_column *column, double value) {
    const int64_t number = value >= 0 && value < (double)column->num_categories ? (int64_t)value : -1;
    if (number >= 0 && (double)number == value) return add_text(t, column->category[number]);
    return MST_FAIL(MST_INVALID,
                    "csv: column '%s' of row %lld is %g, which is the number of none of its %lld categories",
                    column->name, (long long)t->row, value, (long long)column->num_categories);
}

static mst_status add_cell(table *t, int component, int64_t i) {
    char text[MST_NUMBER_TEXT];
    const mst_tensor *cell = t->cell[component];
    const mst_dtype dtype = mst_tensor_dtype(cell);
    if (!component && t->schema.column && t->schema.column[i].category)
        return add_category(t, &t->schema.column[i], mst_tensor_get(cell, i));
    if (mst_dtype_is_float(dtype)) return add_float(t, component, i, mst_tensor_get(cell, i));
    const int64_t value =
        dtype == MST_I64 ? ((const int64_t *)mst_tensor_data(cell))[i] : (int64_t)mst_tensor_get(cell, i);
    if (component && mst_dataset_num_classes(t->rows, 1)) return add_class(t, value);
    const int size = snprintf(text, sizeof text, "%" PRId64, value);
    return write_csv_add(t, text, (size_t)size);
}

/* ---- lines ---- */

/* Each number of a date is a column of its own, with the part in its name. */
static mst_status add_name(table *t, const mst_schema_column *column) {
    char *name = NULL;
    if (!column->part) return add_text(t, column->name);
    if (asprintf(&name, "%s_%s", column->name, column->part) < 0) return MST_NO_MEMORY("for the name of a column");
    const mst_status status = add_text(t, name);
    free(name);
    return status;
}

static mst_status add_names(table *t) {
    for (int i = 0; i < t->schema.num_columns; i++) {
        if (i) MST_TRY(write_csv_add(t, ",", 1));
        MST_TRY(add_name(t, &t->schema.column[i]));
    }
    return write_csv_add(t, "\n", 1);
}

static mst_status add_header(table *t) {
    char name[48];
    const int64_t columns = mst_tensor_count(t->cell[0]);
    if (t->schema.column) return add_names(t);
    for (int64_t i = 0; i < columns; i++) {
        const int size = snprintf(name, sizeof name, "%sx%" PRId64, i ? "," : "", i);
        MST_TRY(write_csv_add(t, name, (size_t)size));
    }
    if (t->cell[1]) MST_TRY(write_csv_add(t, ",label", 6));
    return write_csv_add(t, "\n", 1);
}

static mst_status add_row(table *t) {
    for (int c = 0; c < t->rows->num_components; c++)
        for (int64_t i = 0; i < mst_tensor_count(t->cell[c]); i++) {
            if (c || i) MST_TRY(write_csv_add(t, ",", 1));
            MST_TRY(add_cell(t, c, i));
        }
    return write_csv_add(t, "\n", 1);
}

static mst_status flush(table *t) {
    const int64_t size = t->size;
    t->size = 0;
    return mst_file_append(&t->file, t->text, (size_t)size);
}

static mst_status write_rows(table *t, mst_iterator *it) {
    void *const values[2] = {mst_tensor_data(t->cell[0]), t->cell[1] ? mst_tensor_data(t->cell[1]) : NULL};
    MST_TRY(add_header(t));
    for (const mst_batch *batch;; t->row++) {
        mst_long_work_step((uint64_t)t->row);
        MST_TRY(mst_iterator_next(it, &batch));
        if (!batch) return flush(t);
        MST_TRY(mst_batch_copy_all(batch, 0, 1, values));
        MST_TRY(add_row(t));
        if (t->size >= FLUSH) MST_TRY(flush(t));
    }
}

/* ---- parts ---- */

/* Refuses a column with numbers and text among its names, since it could not be read again. first[0] is a name that is
 * text, first[1] one that is a number. */
static mst_status check_names(const char *const *names, int64_t n) {
    const char *first[2] = {NULL, NULL};
    for (int64_t i = 0; i < n; i++) {
        int64_t integer;
        double number;
        const mst_csv_cell_kind kind = mst_csv_cell_read(names[i], NULL, &integer, &number);
        first[kind == MST_CSV_INTEGER || kind == MST_CSV_FLOAT] = names[i];
    }
    if (first[0] && !first[1] && mst_csv_notation_fits(names, n))
        return MST_FAIL(MST_INVALID, "csv: class '%.64s' would be read as a number: rename it", first[0]);
    if (!first[0] || !first[1]) return MST_OK;
    return MST_FAIL(MST_INVALID, "csv: class '%.64s' is a number and '%.64s' is not: a column has one kind; rename it",
                    first[1], first[0]);
}

/* Takes the schema of the dataset, if it has one that fits a table. */
static mst_status take_schema(table *t) {
    const char *text = mst_dataset_schema(t->rows);
    if (!text || t->rows->num_components < 2) return MST_OK;
    const int64_t labels = mst_shape_count(t->rows->row[1].shape);
    const int64_t columns = mst_shape_count(t->rows->row[0].shape) + labels;
    MST_TRY(mst_schema_read(text, &t->schema));
    if (t->schema.num_columns != columns || t->schema.num_labels != labels) mst_schema_free(&t->schema);
    for (int i = 0; i < t->schema.num_columns; i++)
        MST_TRY(check_names(t->schema.column[i].category, t->schema.column[i].num_categories));
    return MST_OK;
}

static mst_status write_csv_check(const table *t) {
    const mst_dataset *part = t->rows;
    char shape[MST_SHAPE_TEXT];
    int64_t n = 0;
    if (part->num_components < 2) return MST_OK;
    if (mst_shape_count(part->row[1].shape) != 1 && !t->schema.column)
        return MST_FAIL(MST_UNIMPLEMENTED, "csv: labels are of shape %s, a table has one column of them",
                        mst_shape_print(part->row[1].shape, shape, sizeof shape));
    const char *const *names = mst_dataset_classes(part, 1, &n);
    return check_names(names, n);
}

static mst_status write_file(table *t, const char *path) {
    mst_iterator *it;
    for (int c = 0; c < t->rows->num_components; c++)
        MST_TRY(mst_tensor_create(t->rows->row[c].dtype, t->rows->row[c].shape, &t->cell[c]));
    MST_TRY(mst_iterator_create(t->rows, 0, &it));
    mst_status status = mst_file_create(path, &t->file);
    if (!status) {
        const int64_t rows = mst_dataset_num_rows(t->rows);
        mst_long_work_begin(MST_LONG_WORK_WRITING, path, "rows", rows > 0 ? (uint64_t)rows : 0);
        status = write_rows(t, it);
        mst_long_work_end();
        if (!status) status = mst_file_commit(&t->file);
        mst_file_abandon(&t->file);
    }
    mst_iterator_destroy(it);
    return status;
}

static mst_status write_part(const char *path, mst_dataset *part) {
    table t = {.rows = part};
    mst_status status = take_schema(&t);
    if (!status) status = write_csv_check(&t);
    if (!status) status = write_file(&t, path);
    mst_schema_free(&t.schema);
    mst_tensor_release(t.cell[0]);
    mst_tensor_release(t.cell[1]);
    free(t.text);
    return status;
}

static mst_status write_parts(const char *argument, mst_dataset *train, mst_dataset *test,
                              const mst_write_options *options) {
    static const char *const names[2] = {"train", "test"};
    mst_dataset *const parts[2] = {train, test};
    const size_t length = strlen(argument);
    (void)options;
    if (length > 4 && strcmp(argument + length - 4, ".csv") == 0) {
        if (!test) return write_part(argument, train);
        return MST_FAIL(MST_INVALID,
                        "data: there is a test part, '%s' would hold one part: write csv:%.*s, for %.*s-train.csv "
                        "and %.*s-test.csv",
                        argument, (int)length - 4, argument, (int)length - 4, argument, (int)length - 4, argument);
    }
    for (int i = 0; i < 2 && parts[i]; i++) {
        char path[PATH_SIZE];
        const int size = snprintf(path, sizeof path, "%s-%s.csv", argument, names[i]);
        if (size < 0 || size >= PATH_SIZE) return MST_FAIL(MST_INVALID, "data: the prefix is too long");
        MST_TRY(write_part(path, parts[i]));
    }
    return MST_OK;
}

static const char *const csv_files[] = {"", "-train.csv", "-test.csv", NULL};

const mst_data_writer mst_data_writer_csv = {
    .name = "csv:", .form = "csv:FILE", .files = csv_files, .write = write_parts};
