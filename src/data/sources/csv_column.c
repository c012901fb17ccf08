/* Finds the type of a column by reading all of its cells: integers, floats where at least one is no integer,
 * categories where no cell is a number. Categories are the different cells, sorted by their bytes; the number of a
 * cell is found by binary search, in this file or in another one that is read with the same form. Every error names
 * file, line and column. */
#include "data/sources/csv_column.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/number.h"

enum { NUMBER_SIZE = 512 };

/* A cell without the spaces around it, which numbers may have. False where it is too long to be a number. */
static bool trim(const char *cell, char text[NUMBER_SIZE]) {
    while (*cell == ' ' || *cell == '\t') cell++;
    size_t size = strlen(cell);
    while (size && (cell[size - 1] == ' ' || cell[size - 1] == '\t')) size--;
    if (size >= NUMBER_SIZE) return false;
    memcpy(text, cell, size);
    text[size] = '\0';
    return true;
}

/* What stands for a number that is not known: pandas.read_csv has these words. */
static bool is_missing(const char *text) {
    static const char *const words[] = {"",     "NA",     "N/A",     "n/a",     "<NA>",    "#N/A", "#N/A N/A",
                                        "#NA",  "NaN",    "-NaN",    "nan",     "-nan",    "NULL", "null",
                                        "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) return true;
    return false;
}

/* What the characters of TEXT can be: neither, or a number, or an integer too. */
static void look_at(const char *text, bool *numeric, bool *whole) {
    *numeric = *whole = true;
    for (; *text && *numeric; text++) {
        const bool digit = (*text >= '0' && *text <= '9') || *text == '+' || *text == '-';
        *whole = *whole && digit;
        *numeric = digit || *text == '.' || *text == 'e' || *text == 'E';
    }
}

mst_csv_cell_kind mst_csv_cell_read(const char *cell, int64_t *integer, double *number) {
    char text[NUMBER_SIZE], *end;
    bool numeric, whole;
    if (!trim(cell, text)) return MST_CSV_TEXT;
    look_at(text, &numeric, &whole);
    if (!numeric || !mst_number_parse_f64(text, number)) return is_missing(text) ? MST_CSV_MISSING : MST_CSV_TEXT;
    if (!whole) return MST_CSV_FLOAT;
    errno = 0;
    *integer = strtoll(text, &end, 10);
    return errno || *end ? MST_CSV_FLOAT : MST_CSV_INTEGER;
}

/* ---- what a column is ---- */

static mst_status mixed(const mst_csv *csv, int column, int64_t number, int64_t text) {
    char place[MST_CSV_PLACE], shown[2][MST_CSV_SHOWN];
    const bool odd_is_number = text < number;
    const int64_t odd = odd_is_number ? number : text, first = odd_is_number ? text : number;
    return MST_FAIL(MST_INVALID,
                    "%s: %s is %s number, %s in a row above is %s: correct one, or name the column in --categories (in "
                    "C: .categories)",
                    mst_csv_place(csv, odd, column, place), mst_csv_show(mst_csv_cell(csv, odd, column), shown[0]),
                    odd_is_number ? "a" : "no", mst_csv_show(mst_csv_cell(csv, first, column), shown[1]),
                    odd_is_number ? "none" : "one");
}

static mst_status missing(const mst_csv *csv, int64_t row, int column, const mst_csv_column *form) {
    char place[MST_CSV_PLACE];
    const char *what = form->is_label ? "the label is missing: fill it in, or leave out the row"
                                      : "the number is missing: fill it in, leave out the row, or train with --missing "
                                        "mean (in C: .missing)";
    return MST_FAIL(MST_INVALID, "%s: %s", mst_csv_place(csv, row, column, place), what);
}

static mst_status all_missing(const mst_csv *csv, int column) {
    char shown[MST_CSV_SHOWN];
    return MST_FAIL(MST_INVALID,
                    "'%s': column %s has no value in any row: leave it out with --drop (in C: .drop), or fill it in",
                    mst_csv_name(csv), mst_csv_show(mst_csv_header(csv, column), shown));
}

static mst_status find_type(const mst_csv *csv, int column, mst_csv_column *out) {
    int64_t first[MST_CSV_NUM_CELLS] = {-1, -1, -1, -1}, integer;
    double number;
    for (int64_t row = 0; row < mst_csv_num_rows(csv); row++) {
        const mst_csv_cell_kind kind = mst_csv_cell_read(mst_csv_cell(csv, row, column), &integer, &number);
        if (first[kind] < 0) first[kind] = row;
    }
    int64_t any = first[MST_CSV_INTEGER];
    const bool text = first[MST_CSV_TEXT] >= 0, lacks = first[MST_CSV_MISSING] >= 0 && !text;
    if (any < 0 || (first[MST_CSV_FLOAT] >= 0 && first[MST_CSV_FLOAT] < any)) any = first[MST_CSV_FLOAT];
    if (text && any >= 0) return mixed(csv, column, any, first[MST_CSV_TEXT]);
    if (!text && any < 0) return all_missing(csv, column);
    if (lacks && (out->is_label || out->missing == MST_MISSING_REFUSE))
        return missing(csv, first[MST_CSV_MISSING], column, out);
    out->type = text ? MST_CSV_CATEGORIES : first[MST_CSV_FLOAT] >= 0 || lacks ? MST_CSV_FLOATS : MST_CSV_INTEGERS;
    return MST_OK;
}

static int compare(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static mst_status find_categories(const mst_csv *csv, int column, mst_csv_column *out) {
    const int64_t rows = mst_csv_num_rows(csv);
    out->category = malloc((size_t)rows * sizeof *out->category);
    if (!out->category) return MST_NO_MEMORY("for the categories of %lld rows", (long long)rows);
    for (int64_t row = 0; row < rows; row++) out->category[row] = mst_csv_cell(csv, row, column);
    qsort(out->category, (size_t)rows, sizeof *out->category, compare);
    out->num_categories = 1;
    for (int64_t i = 1; i < rows; i++)
        if (strcmp(out->category[i], out->category[i - 1]) != 0)
            out->category[out->num_categories++] = out->category[i];
    return MST_OK;
}

mst_status mst_csv_column_find(const mst_csv *csv, int column, bool categories, mst_csv_column *out) {
    out->name = mst_csv_header(csv, column);
    out->place = column;
    out->type = MST_CSV_CATEGORIES;
    if (!categories) MST_TRY(find_type(csv, column, out));
    return out->type == MST_CSV_CATEGORIES ? find_categories(csv, column, out) : MST_OK;
}

void mst_csv_column_free(mst_csv_column *column) {
    free(column->category);
    *column = (mst_csv_column){0};
}

/* ---- schema ---- */

static const char *const type_names[] = {[MST_CSV_INTEGERS] = "integer",
                                         [MST_CSV_FLOATS] = "float",
                                         [MST_CSV_CATEGORIES] = "category",
                                         [MST_CSV_TEXTS] = "text"};

mst_schema_column mst_csv_column_to_schema(const mst_csv_column *column) {
    return (mst_schema_column){column->name, type_names[column->type], column->category, column->num_categories};
}

/* Categories must be sorted, since they are found by binary search. */
static bool is_sorted(const mst_schema_column *column) {
    for (int64_t i = 1; column->category && i < column->num_categories; i++)
        if (strcmp(column->category[i - 1], column->category[i]) >= 0) return false;
    return true;
}

mst_status mst_csv_column_from_schema(const mst_schema_column *from, int place, mst_csv_column *out) {
    *out = (mst_csv_column){.name = from->name, .place = place};
    int type = MST_CSV_INTEGERS;
    while (type <= MST_CSV_TEXTS && strcmp(type_names[type], from->type) != 0) type++;
    if (type > MST_CSV_TEXTS || (type == MST_CSV_CATEGORIES) != (from->category != NULL) || !is_sorted(from))
        return MST_FAIL(MST_INVALID, "schema: its column '%s' is not one of a table", from->name);
    out->type = (mst_csv_type)type;
    if (!from->category) return MST_OK;
    const size_t bytes = (size_t)from->num_categories * sizeof *out->category;
    out->category = malloc(bytes);
    if (!out->category) return MST_NO_MEMORY("for the categories of a column");
    memcpy(out->category, from->category, bytes);
    out->num_categories = from->num_categories;
    return MST_OK;
}

/* ---- values ---- */

enum { LISTED = 200 };

/* "a, b, c", as many as fit. */
static const char *list_categories(const mst_csv_column *form, char text[LISTED]) {
    static const char more[] = ", ...";
    size_t used = 0;
    text[0] = '\0';
    for (int64_t i = 0; i < form->num_categories; i++) {
        char shown[MST_CSV_SHOWN];
        mst_csv_show(form->category[i], shown);
        if (used + strlen(shown) + 2 + sizeof more > LISTED) {
            memcpy(text + used, more, sizeof more);
            return text;
        }
        used += (size_t)snprintf(text + used, LISTED - used, "%s%s", i ? ", " : "", shown);
    }
    return text;
}

static mst_status read_category(const mst_csv *csv, int64_t row, int column, const mst_csv_column *form,
                                int64_t *number) {
    char place[MST_CSV_PLACE], shown[MST_CSV_SHOWN], list[LISTED];
    const char *cell = mst_csv_cell(csv, row, column);
    if (form->is_label && !*cell) return missing(csv, row, column, form);
    const char **found = bsearch(&cell, form->category, (size_t)form->num_categories, sizeof *form->category, compare);
    if (!found && form->unknown_categories) {
        *number = -1;
        return MST_OK;
    }
    if (!found)
        return MST_FAIL(MST_INVALID, "%s: category %s was not there in training: there is %s",
                        mst_csv_place(csv, row, column, place), mst_csv_show(cell, shown), list_categories(form, list));
    *number = found - form->category;
    return MST_OK;
}

static mst_status no_number(const mst_csv *csv, int64_t row, int column, const char *what) {
    char place[MST_CSV_PLACE], shown[MST_CSV_SHOWN];
    return MST_FAIL(MST_INVALID, "%s: %s is no %s", mst_csv_place(csv, row, column, place),
                    mst_csv_show(mst_csv_cell(csv, row, column), shown), what);
}

mst_status mst_csv_column_read_i64(const mst_csv *csv, int column, const mst_csv_column *form, int64_t *dst) {
    double number = 0;
    for (int64_t row = 0; row < mst_csv_num_rows(csv); row++) {
        if (form->type == MST_CSV_CATEGORIES) {
            MST_TRY(read_category(csv, row, column, form, &dst[row]));
            continue;
        }
        const mst_csv_cell_kind kind = mst_csv_cell_read(mst_csv_cell(csv, row, column), &dst[row], &number);
        if (kind == MST_CSV_MISSING) return missing(csv, row, column, form);
        if (kind != MST_CSV_INTEGER) return no_number(csv, row, column, "integer, as those of the other rows are");
    }
    return MST_OK;
}

mst_status mst_csv_column_read_f32(const mst_csv *csv, int column, const mst_csv_column *form, float *dst,
                                   int64_t stride) {
    int64_t integer = 0;
    double number = 0;
    for (int64_t row = 0; row < mst_csv_num_rows(csv); row++) {
        if (form->type == MST_CSV_CATEGORIES) {
            MST_TRY(read_category(csv, row, column, form, &integer));
            number = (double)integer;
        } else {
            const mst_csv_cell_kind kind = mst_csv_cell_read(mst_csv_cell(csv, row, column), &integer, &number);
            if (kind == MST_CSV_MISSING && (form->is_label || form->missing == MST_MISSING_REFUSE))
                return missing(csv, row, column, form);
            if (kind == MST_CSV_MISSING) number = NAN;
            if (kind == MST_CSV_TEXT) return no_number(csv, row, column, "number, as those of the other rows are");
            if (isinf((float)number)) return no_number(csv, row, column, "number that f32 can hold");
        }
        dst[row * stride] = (float)number;
    }
    return MST_OK;
}

mst_status mst_csv_column_read_texts(const mst_csv *csv, int column, mst_tensor *dst) {
    for (int64_t row = 0; row < mst_csv_num_rows(csv); row++)
        MST_TRY(mst_tensor_set_string(dst, row, mst_string_of(mst_csv_cell(csv, row, column))));
    return MST_OK;
}
