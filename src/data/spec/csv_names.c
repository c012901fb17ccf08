#include "data/spec/csv_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "data/sources/csv_column.h"

enum { NAME_SIZE = 512, LIST_SIZE = 512, MOST_ENDS = 64 };

/* The columns that make up one input or output. */
typedef struct csv_end {
    int first, count; /* range in csv_names.column */
    bool is_label;
    bool is_row; /* f32 [rows, columns]; else its only column, [rows] */
} csv_end;

typedef struct csv_names {
    const mst_data_options *options;
    mst_csv *csv, *like; /* like: the file that defines the columns; often csv itself */
    mst_schema schema;
    csv_end end[MOST_ENDS];
    mst_tensor *tensor[MOST_ENDS];
    int num_ends;
    mst_csv_column *column; /* [num_columns] places are those in LIKE */
    int num_columns;
} csv_names;

static const char *end_name(const mst_data_options *o, int i) {
    return i < o->num_inputs ? o->inputs[i] : o->outputs[i - o->num_inputs];
}

/* The index of the column NAME in CSV; -1: there is none, or it is dropped. */
static int column_of(const csv_names *t, const mst_csv *csv, const char *name) {
    for (int i = 0; i < t->options->num_drop; i++)
        if (strcmp(t->options->drop[i], name) == 0) return -1;
    for (int i = 0; i < mst_csv_num_columns(csv); i++)
        if (strcmp(mst_csv_header(csv, i), name) == 0) return i;
    return -1;
}

static bool is_end(const mst_data_options *o, const char *name) {
    for (int i = 0; i < o->num_inputs + o->num_outputs; i++)
        if (strcmp(end_name(o, i), name) == 0) return true;
    return false;
}

/* ---- messages of errors ---- */

static const char *list_columns(const mst_csv *csv, char list[LIST_SIZE]) {
    size_t used = 0;
    for (int i = 0; i < mst_csv_num_columns(csv) && used < LIST_SIZE; i++)
        used += (size_t)snprintf(list + used, LIST_SIZE - used, "%s'%.64s'", i ? ", " : "", mst_csv_header(csv, i));
    return list;
}

static mst_status fail_no_column(const csv_names *t, int i) {
    char list[LIST_SIZE];
    const char *name = end_name(t->options, i);
    return MST_FAIL(MST_NOT_FOUND,
                    "'%s': has no column '%s', nor '%s_0', '%s_1' and so on, for %s of the model: it has %s",
                    mst_csv_name(t->like), name, name, name, i < t->options->num_inputs ? "an input" : "an output",
                    list_columns(t->like, list));
}

/* ---- which columns ---- */

static mst_status add_column(csv_names *t, int place, csv_end *end) {
    mst_csv_column *column = &t->column[t->num_columns];
    for (int i = 0; i < t->num_columns; i++)
        if (t->column[i].place == place)
            return MST_FAIL(MST_INVALID, "'%s': column '%s' is of two inputs or outputs", mst_csv_name(t->like),
                            mst_csv_header(t->like, place));
    *column = (mst_csv_column){.name = mst_csv_header(t->like, place),
                               .place = place,
                               .missing = t->options->missing,
                               .is_label = end->is_label};
    end->count++;
    t->num_columns++;
    return MST_OK;
}

/* Finds the columns of input or output I: the one with its name, or those with its name followed by _0, _1 and so on. A
 * column whose full name is that of another input or output is not taken. */
static mst_status find_end(csv_names *t, int i, csv_end *end) {
    const char *name = end_name(t->options, i);
    char numbered[NAME_SIZE];
    *end = (csv_end){.first = t->num_columns, .is_label = i >= t->options->num_inputs};
    const int alone = column_of(t, t->like, name);
    if (alone >= 0) MST_TRY(add_column(t, alone, end));
    for (int k = 0;; k++) {
        snprintf(numbered, sizeof numbered, "%.*s_%d", NAME_SIZE - 16, name, k);
        const int place = is_end(t->options, numbered) ? -1 : column_of(t, t->like, numbered);
        if (place < 0) break;
        if (alone >= 0)
            return MST_FAIL(MST_INVALID, "'%s': has columns '%s' and '%s': leave one of them out",
                            mst_csv_name(t->like), name, numbered);
        MST_TRY(add_column(t, place, end));
    }
    end->is_row = alone < 0 || !end->is_label;
    return MST_OK;
}

static mst_status find_ends(csv_names *t, bool *has_labels) {
    const mst_data_options *o = t->options;
    const int all = o->num_inputs + (o->inputs_only ? 0 : o->num_outputs);
    int missing = -1, labels = 0;
    if (all > MOST_ENDS) return MST_FAIL(MST_INVALID, "more than %d inputs and outputs", MOST_ENDS);
    for (int i = 0; i < all; i++) {
        MST_TRY(find_end(t, i, &t->end[i]));
        if (!t->end[i].count && missing < 0) missing = i; /* inputs come first */
        labels += t->end[i].is_label && t->end[i].count;
    }
    if (missing >= 0 && (missing < o->num_inputs || labels)) return fail_no_column(t, missing);
    t->num_ends = labels ? all : o->num_inputs;
    *has_labels = labels > 0;
    return MST_OK;
}

/* ---- what is in them ---- */

/* What the schema says about the column NAME; NULL: nothing. */
static const mst_schema_column *noted_column(const csv_names *t, const char *name) {
    for (int i = 0; name && i < t->schema.num_columns; i++)
        if (strcmp(t->schema.column[i].name, name) == 0) return &t->schema.column[i];
    return NULL;
}

static mst_status find_form(const csv_names *t, const csv_end *end, mst_csv_column *column) {
    const mst_csv_column asked = *column;
    const mst_schema_column *noted = noted_column(t, asked.name);
    const mst_csv_notation notation = {.decimal = t->options->decimal, .thousands = t->options->thousands};
    const bool has_notation = noted && (noted->decimal || noted->sign);
    if (noted && (end->is_label || has_notation))
        MST_TRY(mst_csv_column_from_schema(noted, asked.place, column));
    else
        MST_TRY(mst_csv_column_find(t->like, asked.place, &(mst_csv_reading){.notation = notation}, column));
    column->is_label = asked.is_label;
    column->missing = asked.missing;
    if (column->type != MST_CSV_CATEGORIES || !end->is_row) return MST_OK;
    return MST_FAIL(MST_INVALID, "'%s': column '%s' is text, which %s cannot hold: numbers are due",
                    mst_csv_name(t->like), column->name, end->is_label ? "a row of labels" : "an input of numbers");
}

static mst_status read_end(csv_names *t, const csv_end *end, mst_tensor **out) {
    const int64_t rows = mst_csv_num_rows(t->csv);
    for (int i = 0; i < end->count; i++) {
        mst_csv_column *column = &t->column[end->first + i];
        MST_TRY(find_form(t, end, column));
        const bool whole = !end->is_row && column->type != MST_CSV_FLOATS;
        if (i == 0)
            MST_TRY(mst_tensor_create(whole ? MST_I64 : MST_F32,
                                      end->is_row ? MST_SHAPE(rows, end->count) : MST_SHAPE(rows), out));
        int place = column->place;
        if (t->csv != t->like) MST_TRY(mst_csv_find(t->csv, column->name, &place));
        if (whole)
            MST_TRY(mst_csv_column_read_i64(t->csv, place, column, mst_tensor_data(*out)));
        else
            MST_TRY(mst_csv_column_read_f32(t->csv, place, column, (float *)mst_tensor_data(*out) + i, end->count));
    }
    return MST_OK;
}

/* Adds the names of the classes of labels that were text, and the schema, so that other files are numbered alike. */
static mst_status describe_rows(const csv_names *t, mst_dataset **dataset) {
    mst_schema_column *columns = calloc((size_t)t->num_columns + 1, sizeof *columns);
    char *text;
    mst_dataset *next;
    if (!columns) return MST_NO_MEMORY("for a schema");
    for (int i = 0; i < t->num_columns; i++) columns[i] = mst_csv_column_to_schema(&t->column[i]);
    mst_status status = mst_schema_write(columns, t->num_columns, 1, &text);
    free(columns);
    if (!status) status = mst_dataset_add_schema(*dataset, text, &next);
    MST_TRY(status);
    mst_dataset_release(*dataset);
    *dataset = next;
    for (int i = 0; i < t->num_ends; i++) {
        const mst_csv_column *column = &t->column[t->end[i].first];
        if (!t->end[i].is_label || column->type != MST_CSV_CATEGORIES) continue;
        MST_TRY(mst_dataset_name_classes(*dataset, i, column->category, column->num_categories, &next));
        mst_dataset_release(*dataset);
        *dataset = next;
    }
    return MST_OK;
}

/* Finds the place of COLUMN in the file of the rows, and gives it the type that it had in training. */
static mst_status place_column(const csv_names *t, mst_csv_column *column) {
    const mst_schema_column *noted = noted_column(t, column->name);
    mst_csv_column before = {.type = column->type};
    if (noted) MST_TRY(mst_csv_column_from_schema(noted, 0, &before));
    column->type = before.type;
    mst_csv_column_free(&before);
    return mst_csv_find(t->csv, column->name, &column->place);
}

/* Checks that points in numbers cannot stand between thousands, in the file that defines the columns and in the file of
 * the rows. */
static mst_status check_points(const csv_names *t) {
    const bool is_new = t->options->schema || t->like != t->csv;
    if (!t->options->schema) MST_TRY(mst_csv_columns_check(t->like, t->column, t->num_columns, false));
    if (!is_new) return MST_OK;
    const size_t bytes = (size_t)t->num_columns * sizeof *t->column;
    mst_csv_column *placed = malloc(bytes);
    if (!placed) return MST_NO_MEMORY("for %d columns", t->num_columns);
    memcpy(placed, t->column, bytes);
    mst_status status = MST_OK;
    for (int i = 0; i < t->num_columns && !status; i++) status = place_column(t, &placed[i]);
    if (!status) status = mst_csv_columns_check(t->csv, placed, t->num_columns, true);
    free(placed);
    return status;
}

static mst_status make_rows(csv_names *t, mst_dataset **out) {
    const mst_data_options *o = t->options;
    for (int i = 0; i < t->num_ends; i++) MST_TRY(read_end(t, &t->end[i], &t->tensor[i]));
    if (!o->decimal && !o->thousands) MST_TRY(check_points(t));
    MST_TRY(mst_dataset_from_tensors(t->tensor, t->num_ends, out));
    const mst_status status = describe_rows(t, out);
    if (!status) return MST_OK;
    mst_dataset_release(*out);
    *out = NULL;
    return status;
}

static mst_status open_files(csv_names *t, const char *path, const char *like) {
    const mst_csv_format format = {.delimiter = t->options->delimiter,
                                   .comment = t->options->comment,
                                   .no_header = t->options->no_header,
                                   .encoding = t->options->encoding};
    MST_TRY(mst_csv_read(path, &format, &t->csv));
    t->like = t->csv;
    if (like && mst_csv_read(like, &format, &t->like)) {
        t->like = t->csv;
        return mst_error()->code;
    }
    t->column = calloc((size_t)mst_csv_num_columns(t->like) + 1, sizeof *t->column);
    if (!t->column) return MST_NO_MEMORY("for %d columns", mst_csv_num_columns(t->like));
    return t->options->schema ? mst_schema_read(t->options->schema, &t->schema) : MST_OK;
}

static void close_files(csv_names *t) {
    for (int i = 0; i < t->num_columns; i++) mst_csv_column_free(&t->column[i]);
    for (int i = 0; i < MOST_ENDS; i++) mst_tensor_release(t->tensor[i]);
    free(t->column);
    mst_schema_free(&t->schema);
    if (t->like != t->csv) mst_csv_close(t->like);
    mst_csv_close(t->csv);
}

mst_status mst_csv_names_open(const char *path, const char *like, const mst_data_options *options, mst_dataset **out,
                              bool *has_labels) {
    csv_names t = {.options = options};
    *out = NULL;
    mst_status status = open_files(&t, path, like);
    if (!status) status = find_ends(&t, has_labels);
    if (!status) status = make_rows(&t, out);
    close_files(&t);
    return status;
}

mst_status mst_csv_inputs_open(const char *path, const mst_data_options *options, mst_dataset **out) {
    csv_names t = {.options = options, .end = {{.is_row = true}}, .num_ends = 1};
    *out = NULL;
    mst_status status = open_files(&t, path, NULL);
    const int count = status ? 0 : mst_csv_num_columns(t.csv);
    for (int i = 0; i < count && count == options->input_columns && !status; i++) status = add_column(&t, i, &t.end[0]);
    if (!status && t.num_columns) status = make_rows(&t, out);
    close_files(&t);
    return status;
}
