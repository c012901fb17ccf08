#include "data/csv_column.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/number.h"

typedef enum cell_kind { EMPTY, INTEGER, FLOAT, TEXT, NUM_KINDS } cell_kind;

enum { NUMBER_SIZE = 512 };

/* A cell without the spaces around it, which numbers may have. False where it is too long to be a number. */
static bool trim(const char *cell, char text[NUMBER_SIZE]) {
    cell += strspn(cell, " \t");
    size_t size = strlen(cell);
    while (size && (cell[size - 1] == ' ' || cell[size - 1] == '\t')) size--;
    if (size >= NUMBER_SIZE) return false;
    memcpy(text, cell, size);
    text[size] = '\0';
    return true;
}

/* Numbers are decimal: nan, inf and 0x10 are text. */
static cell_kind read_cell(const char *cell, int64_t *integer, double *number) {
    char text[NUMBER_SIZE], *end;
    if (!trim(cell, text)) return TEXT;
    if (!*text) return EMPTY;
    if (text[strspn(text, "+-.0123456789eE")] || !mst_number_parse_f64(text, number)) return TEXT;
    if (text[strspn(text, "+-0123456789")]) return FLOAT;
    errno = 0;
    *integer = strtoll(text, &end, 10);
    return errno || *end ? FLOAT : INTEGER;
}

/* ---- what a column is ---- */

static mst_status mixed(const mst_csv *csv, int column, int64_t number, int64_t text) {
    char place[MST_CSV_PLACE], shown[2][MST_CSV_SHOWN];
    const bool odd_is_number = text < number;
    const int64_t odd = odd_is_number ? number : text, first = odd_is_number ? text : number;
    return MST_FAIL(MST_INVALID,
                    "%s: %s is %s number, %s in a row above is %s: correct one, or name the column a category",
                    mst_csv_place(csv, odd, column, place), mst_csv_show(mst_csv_cell(csv, odd, column), shown[0]),
                    odd_is_number ? "a" : "no", mst_csv_show(mst_csv_cell(csv, first, column), shown[1]),
                    odd_is_number ? "none" : "one");
}

static mst_status missing(const mst_csv *csv, int64_t row, int column) {
    char place[MST_CSV_PLACE];
    return MST_FAIL(MST_INVALID, "%s: the number is missing: fill it in, or leave out the row",
                    mst_csv_place(csv, row, column, place));
}

static mst_status find_type(const mst_csv *csv, int column, mst_csv_type *out) {
    int64_t first[NUM_KINDS] = {-1, -1, -1, -1}, integer;
    double number;
    for (int64_t row = 0; row < mst_csv_num_rows(csv); row++) {
        const cell_kind kind = read_cell(mst_csv_cell(csv, row, column), &integer, &number);
        if (first[kind] < 0) first[kind] = row;
    }
    int64_t any = first[INTEGER];
    if (any < 0 || (first[FLOAT] >= 0 && first[FLOAT] < any)) any = first[FLOAT];
    if (first[TEXT] >= 0 && any >= 0) return mixed(csv, column, any, first[TEXT]);
    if (first[TEXT] < 0 && first[EMPTY] >= 0) return missing(csv, first[EMPTY], column);
    *out = first[TEXT] >= 0 ? MST_CSV_CATEGORIES : first[FLOAT] >= 0 ? MST_CSV_FLOATS : MST_CSV_INTEGERS;
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
    *out = (mst_csv_column){.place = column, .type = MST_CSV_CATEGORIES};
    if (!categories) MST_TRY(find_type(csv, column, &out->type));
    return out->type == MST_CSV_CATEGORIES ? find_categories(csv, column, out) : MST_OK;
}

void mst_csv_column_free(mst_csv_column *column) {
    free(column->category);
    *column = (mst_csv_column){0};
}

/* ---- values ---- */

static mst_status read_category(const mst_csv *csv, int64_t row, int column, const mst_csv_column *form,
                                int64_t *number) {
    char place[MST_CSV_PLACE], shown[MST_CSV_SHOWN];
    const char *cell = mst_csv_cell(csv, row, column);
    const char **found = bsearch(&cell, form->category, (size_t)form->num_categories, sizeof *form->category, compare);
    if (!found)
        return MST_FAIL(MST_INVALID, "%s: category %s is not in the file whose categories are taken",
                        mst_csv_place(csv, row, column, place), mst_csv_show(cell, shown));
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
        const cell_kind kind = read_cell(mst_csv_cell(csv, row, column), &dst[row], &number);
        if (kind == EMPTY) return missing(csv, row, column);
        if (kind != INTEGER) return no_number(csv, row, column, "integer, as those of the other rows are");
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
            const cell_kind kind = read_cell(mst_csv_cell(csv, row, column), &integer, &number);
            if (kind == EMPTY) return missing(csv, row, column);
            if (kind == TEXT) return no_number(csv, row, column, "number, as those of the other rows are");
            if (fabs(number) > FLT_MAX) return no_number(csv, row, column, "number that f32 can hold");
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
