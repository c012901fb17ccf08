/* Finds the type of a column by reading all of its cells: integers; floats if at least one number is not an integer;
 * categories if no cell is a number. If some cells are not numbers in the notation of C, other notations are tried.
 * Categories are the different cells, sorted by their bytes. The number of a cell is found by binary search, in this
 * file or in another one that is read with the same form. Every error names file, line and column. */
#include "data/sources/csv_column.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/number.h"
#include "tensor/tokens.h"

/* ---- what a column is ---- */

static mst_status mixed(const mst_csv *csv, int column, const mst_csv_column *form, int64_t number, int64_t text) {
    char place[MST_CSV_PLACE], shown[2][MST_CSV_SHOWN];
    const bool odd_is_number = text < number;
    const int64_t odd = odd_is_number ? number : text, first = odd_is_number ? text : number;
    return MST_FAIL(MST_INVALID, "%s: %s is %s number, %s in a row above is %s: correct one%s",
                    mst_csv_place(csv, odd, column, place), mst_csv_show(mst_csv_cell(csv, odd, column), shown[0]),
                    odd_is_number ? "a" : "no", mst_csv_show(mst_csv_cell(csv, first, column), shown[1]),
                    odd_is_number ? "none" : "one",
                    form->is_weight ? "" : ", or name the column in --categories (in C: .categories)");
}

static mst_status missing(const mst_csv *csv, int64_t row, int column, const mst_csv_column *form) {
    char place[MST_CSV_PLACE];
    const char *what = form->is_label ? "the label is missing: fill it in, or leave out the row"
                       : form->is_weight
                           ? "the weight is missing: fill it in, or leave out the row"
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

/* Finds the first row with a cell of each kind; -1: there is none. */
static void find_kinds(const mst_csv *csv, int column, const mst_csv_notation *notation,
                       int64_t first[MST_CSV_NUM_CELLS]) {
    int64_t integer;
    double number;
    for (int kind = 0; kind < MST_CSV_NUM_CELLS; kind++) first[kind] = -1;
    for (int64_t row = 0; row < mst_csv_num_rows(csv); row++) {
        const mst_csv_cell_kind kind = mst_csv_cell_read(mst_csv_cell(csv, row, column), notation, &integer, &number);
        if (first[kind] < 0) first[kind] = row;
    }
}

/* The error for a column whose cells are all numbers, but none in the notation of --decimal and --thousands. It is
 * unlikely that they were meant as categories. ROW is the row of the first of these cells. */
static mst_status other_notation(const mst_csv *csv, int64_t row, int column) {
    char place[MST_CSV_PLACE], shown[MST_CSV_SHOWN];
    return MST_FAIL(
        MST_INVALID,
        "%s: %s is a number, but not as --decimal and --thousands say (in C: .decimal, .thousands): write all "
        "alike, or name the column in --categories (in C: .categories)",
        mst_csv_place(csv, row, column, place), mst_csv_show(mst_csv_cell(csv, row, column), shown));
}

/* Chooses the notation of C if it fits all cells and the options do not exclude it, else another one that fits. */
static mst_status find_notation(const mst_csv *csv, int column, const mst_csv_notation *asked,
                                int64_t first[MST_CSV_NUM_CELLS], mst_csv_notation *out) {
    const bool is_other = asked->decimal == ',' || asked->thousands == '.';
    mst_csv_notation other;
    bool found;
    find_kinds(csv, column, NULL, first);
    bool are_numbers = first[MST_CSV_TEXT] < 0;
    if (are_numbers && !is_other) return MST_OK;
    MST_TRY(mst_csv_notation_find(csv, column, asked, &other, &found));
    if (!found && is_other) { /* the options exclude the notation of C, so numbers in it count as text */
        other = (mst_csv_notation){.decimal = ',', .thousands = asked->thousands ? asked->thousands : '.'};
        find_kinds(csv, column, &other, first);
    }
    if (!found) {
        const bool has_number = first[MST_CSV_INTEGER] >= 0 || first[MST_CSV_FLOAT] >= 0;
        if (has_number || first[MST_CSV_TEXT] < 0 || (!asked->decimal && !asked->thousands)) return MST_OK;
        if (!are_numbers) are_numbers = mst_csv_notation_find(csv, column, NULL, &other, &found) || found;
        return are_numbers ? other_notation(csv, first[MST_CSV_TEXT], column) : MST_OK;
    }
    find_kinds(csv, column, &other, first);
    *out = other;
    return MST_OK;
}

static mst_status find_type(const mst_csv *csv, int column, const mst_csv_notation *asked, mst_csv_column *out) {
    int64_t first[MST_CSV_NUM_CELLS];
    MST_TRY(find_notation(csv, column, asked, first, &out->notation));
    int64_t any = first[MST_CSV_INTEGER]; /* becomes the first row with a number */
    const bool text = first[MST_CSV_TEXT] >= 0, lacks = first[MST_CSV_MISSING] >= 0 && !text;
    if (any < 0 || (first[MST_CSV_FLOAT] >= 0 && first[MST_CSV_FLOAT] < any)) any = first[MST_CSV_FLOAT];
    if (text && any >= 0) return mixed(csv, column, out, any, first[MST_CSV_TEXT]);
    if (!text && any < 0) return all_missing(csv, column);
    if (lacks && (out->is_label || out->missing == MST_MISSING_REFUSE))
        return missing(csv, first[MST_CSV_MISSING], column, out);
    out->type = text ? MST_CSV_CATEGORIES : first[MST_CSV_FLOAT] >= 0 || lacks ? MST_CSV_FLOATS : MST_CSV_INTEGERS;
    return MST_OK;
}

static mst_status find_dates(const mst_csv *csv, int column, mst_csv_column *out) {
    int64_t first[MST_CSV_NUM_CELLS];
    MST_TRY(mst_csv_date_find(csv, column, &out->order));
    find_kinds(csv, column, NULL, first);
    const bool lacks = first[MST_CSV_MISSING] >= 0;
    if (first[MST_CSV_TEXT] < 0) return all_missing(csv, column);
    if (lacks && out->missing == MST_MISSING_REFUSE) return missing(csv, first[MST_CSV_MISSING], column, out);
    out->type = lacks ? MST_CSV_FLOATS : MST_CSV_INTEGERS;
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

mst_status mst_csv_column_find(const mst_csv *csv, int column, const mst_csv_reading *as, mst_csv_column *out) {
    static const mst_csv_reading nothing;
    if (!as) as = &nothing;
    out->name = mst_csv_header(csv, column);
    out->place = column;
    out->type = MST_CSV_CATEGORIES;
    out->part = as->part;
    if (as->part) return find_dates(csv, column, out);
    if (!as->categories) MST_TRY(find_type(csv, column, &as->notation, out));
    return out->type == MST_CSV_CATEGORIES ? find_categories(csv, column, out) : MST_OK;
}

static bool is_numbers(const mst_csv_column *column) {
    return !column->part && (column->type == MST_CSV_INTEGERS || column->type == MST_CSV_FLOATS);
}

static bool has_mark(const mst_csv *csv, int column, char mark) {
    for (int64_t row = 0; row < mst_csv_num_rows(csv); row++)
        if (strchr(mst_csv_cell(csv, row, column), mark)) return true;
    return false;
}

/* Column COMMA has a decimal comma. Says why points in other columns are doubtful then. */
static const char *why_doubtful(const mst_csv *csv, const mst_csv_column *comma) {
    if (has_mark(csv, comma->place, ',')) return "has a decimal comma";
    if (has_mark(csv, comma->place, '.')) return "has points between thousands";
    return "had a decimal comma in training";
}

/* Whether all COLUMNS can still be read if the user says that spaces stand between thousands, so that points do not. */
static bool are_read_with_spaces(const mst_csv *csv, const mst_csv_column *columns, int n) {
    static const mst_csv_notation spaces = {.thousands = ' '};
    mst_csv_notation other;
    bool found;
    for (int i = 0; i < n; i++)
        if (is_numbers(&columns[i]) && !mst_csv_notation_is_plain(&columns[i].notation) &&
            (mst_csv_notation_find(csv, columns[i].place, &spaces, &other, &found) || !found))
            return false;
    return true;
}

/* Fails if the points in COLUMN, one of the N COLUMNS, may stand between thousands, as they do in COMMA. */
static mst_status check_points(const mst_csv *csv, const mst_csv_column *column, const mst_csv_column *comma,
                               const mst_csv_column *columns, int n) {
    char place[MST_CSV_PLACE], shown[2][MST_CSV_SHOWN], text[2][MST_NUMBER_TEXT];
    mst_csv_notation other = {.decimal = ',', .thousands = '.'};
    int64_t integer;
    double number[2] = {0, 0};
    memcpy(other.sign, column->notation.sign, sizeof other.sign);
    const int64_t row = mst_csv_notation_doubt(csv, column->place, &column->notation, &other);
    if (row < 0) return MST_OK;
    const char *cell = mst_csv_cell(csv, row, column->place);
    (void)mst_csv_cell_read(cell, &other, &integer, &number[0]);
    (void)mst_csv_cell_read(cell, &column->notation, &integer, &number[1]);
    return MST_FAIL(MST_INVALID,
                    "%s: %s may be %s or %s, since column %s %s: say --decimal , (in C: .decimal) if the point is "
                    "between thousands; %s",
                    mst_csv_place(csv, row, column->place, place), mst_csv_show(cell, shown[0]),
                    mst_number_print_f64(number[0], text[0]), mst_number_print_f64(number[1], text[1]),
                    mst_csv_show(comma->name, shown[1]), why_doubtful(csv, comma),
                    are_read_with_spaces(csv, columns, n)
                        ? "--thousands space (in C: .thousands) if it is a decimal point"
                        : "if it is a decimal point, write the numbers of all columns alike");
}

mst_status mst_csv_columns_check(const mst_csv *csv, const mst_csv_column *columns, int n, bool is_new) {
    const mst_csv_column *comma = NULL;
    for (int i = 0; i < n && !comma; i++) {
        const mst_csv_notation *one = &columns[i].notation;
        if (is_numbers(&columns[i]) && one->decimal == ',' && one->thousands == '.') comma = &columns[i];
    }
    for (int i = 0; i < n && comma; i++)
        if (is_numbers(&columns[i]) && columns[i].notation.decimal != ',' &&
            (!is_new || columns[i].type == MST_CSV_INTEGERS))
            MST_TRY(check_points(csv, &columns[i], comma, columns, n));
    return MST_OK;
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
static const char date_name[] = "date";
static const char *const order_names[] = {"", "day", "month"}; /* indexed by mst_csv_date_order */

static const char *mark_name(char mark) {
    static const char *const names[] = {".", ",", "'", " "};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (mark && *names[i] == mark) return names[i];
    return NULL;
}

mst_schema_column mst_csv_column_to_schema(const mst_csv_column *column) {
    const mst_csv_notation *n = &column->notation;
    mst_schema_column out = {.name = column->name,
                             .type = column->part ? date_name : type_names[column->type],
                             .category = column->category,
                             .num_categories = column->num_categories};
    if (column->part) {
        out.part = mst_csv_date_part_names[column->part];
        out.first = order_names[column->order];
    } else if (!mst_csv_notation_is_plain(n)) {
        out.decimal = mark_name(n->decimal);
        out.thousands = mark_name(n->thousands);
        out.sign = *n->sign ? n->sign : NULL;
    }
    return out;
}

/* Categories must be sorted, since they are found by binary search. */
static bool is_sorted(const mst_schema_column *column) {
    for (int64_t i = 1; column->category && i < column->num_categories; i++)
        if (strcmp(column->category[i - 1], column->category[i]) >= 0) return false;
    return true;
}

/* The index of NAME in the N NAMES; -1: it is not among them. */
static int place_of_name(const char *name, const char *const *names, int n) {
    for (int i = 0; name && i < n; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

static bool take_date(const mst_schema_column *from, mst_csv_column *out) {
    const int part = place_of_name(from->part, mst_csv_date_part_names, MST_CSV_NUM_DATE_PARTS);
    const int order = place_of_name(from->first, order_names, 3);
    if (strcmp(from->type, date_name) != 0 || part < 1 || order < 1) return false;
    out->type = MST_CSV_INTEGERS;
    out->part = (mst_csv_date_part)part;
    out->order = (mst_csv_date_order)order;
    return !from->category;
}

static bool take_notation(const mst_schema_column *from, mst_csv_notation *out) {
    if (from->decimal && strcmp(from->decimal, ",") != 0 && strcmp(from->decimal, ".") != 0) return false;
    if (from->thousands && (!from->thousands[0] || from->thousands[1] || !mark_name(*from->thousands))) return false;
    if (from->sign && !mst_csv_sign_is_known(from->sign)) return false;
    out->decimal = from->decimal ? *from->decimal : 0;
    out->thousands = from->thousands ? *from->thousands : 0;
    if (from->sign) memcpy(out->sign, from->sign, strlen(from->sign) + 1);
    return true;
}

mst_status mst_csv_column_from_schema(const mst_schema_column *from, int place, mst_csv_column *out) {
    *out = (mst_csv_column){.name = from->name, .place = place};
    if (take_date(from, out)) return MST_OK;
    const int type = place_of_name(from->type, type_names, MST_CSV_TEXTS + 1);
    if (type < 0 || (type == MST_CSV_CATEGORIES) != (from->category != NULL) || !is_sorted(from) ||
        !take_notation(from, &out->notation))
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

/* Writes "a, b, c" to TEXT, with as many categories as fit. */
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
    if (!found && form->unknown_categories && mst_text_check((mst_string){cell, strlen(cell)}))
        return MST_FAIL(MST_INVALID,
                        "%s: %s is not UTF-8: say --encoding latin1, or which encoding it is (in C: .encoding)",
                        mst_csv_place(csv, row, column, place), mst_csv_show(cell, shown));
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

/* The error for a cell that is not WHAT. FORM was found in another file, where the cells of the column are WHAT. */
static mst_status not_as_before(const mst_csv *csv, int64_t row, int column, const mst_csv_column *form,
                                const char *what) {
    char place[MST_CSV_PLACE], shown[MST_CSV_SHOWN], notation[MST_CSV_NOTATION_TEXT];
    const char *cell = mst_csv_cell(csv, row, column), *with = mst_csv_notation_print(&form->notation, notation);
    int64_t integer;
    double number;
    const bool is_other = !form->part && strpbrk(cell, ".,") && mst_csv_notation_fits(&cell, 1) &&
                          mst_csv_cell_read(cell, &form->notation, &integer, &number) == MST_CSV_TEXT;
    mst_csv_place(csv, row, column, place);
    mst_csv_show(cell, shown);
    if (*form->notation.sign && mst_csv_cell_read_unsigned(cell, &form->notation, &integer, &number) != MST_CSV_TEXT)
        return MST_FAIL(MST_INVALID, "%s: %s has no %s, as the numbers of the training have: write it as those", place,
                        shown, form->notation.sign);
    return MST_FAIL(MST_INVALID, "%s: %s is no %s%s%s, as those of the training are: correct it%s", place, shown,
                    form->part ? "date" : what, *with ? " with " : "", with,
                    is_other ? ", or say with --decimal or --thousands how this file writes numbers (in C: .decimal, "
                               ".thousands)"
                             : "");
}

static mst_status too_large(const mst_csv *csv, int64_t row, int column) {
    char place[MST_CSV_PLACE], shown[MST_CSV_SHOWN];
    return MST_FAIL(MST_INVALID, "%s: %s is no number that f32 can hold", mst_csv_place(csv, row, column, place),
                    mst_csv_show(mst_csv_cell(csv, row, column), shown));
}

/* Reads the cell as a number in the form FORM. An amount may lack its currency sign. A percentage may not lack its
 * sign: 0.12 beside 12 % may be 0.12 % or 12 %. */
static mst_csv_cell_kind read_number(const mst_csv *csv, int64_t row, int column, const mst_csv_column *form,
                                     int64_t *integer, double *number) {
    const char *cell = mst_csv_cell(csv, row, column);
    if (!form->part) {
        const mst_csv_cell_kind kind = mst_csv_cell_read(cell, &form->notation, integer, number);
        if (kind != MST_CSV_TEXT || strcmp(form->notation.sign, "%") == 0) return kind;
        return mst_csv_cell_read_unsigned(cell, &form->notation, integer, number);
    }
    if (!mst_csv_date_read(cell, form->order, form->part, integer))
        return mst_csv_cell_read(cell, NULL, integer, number) == MST_CSV_MISSING ? MST_CSV_MISSING : MST_CSV_TEXT;
    *number = (double)*integer;
    return MST_CSV_INTEGER;
}

mst_status mst_csv_column_read_i64(const mst_csv *csv, int column, const mst_csv_column *form, int64_t *dst) {
    double number = 0;
    for (int64_t row = 0; row < mst_csv_num_rows(csv); row++) {
        if (form->type == MST_CSV_CATEGORIES) {
            MST_TRY(read_category(csv, row, column, form, &dst[row]));
            continue;
        }
        const mst_csv_cell_kind kind = read_number(csv, row, column, form, &dst[row], &number);
        if (kind == MST_CSV_MISSING) return missing(csv, row, column, form);
        if (kind != MST_CSV_INTEGER) return not_as_before(csv, row, column, form, "whole number");
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
            const mst_csv_cell_kind kind = read_number(csv, row, column, form, &integer, &number);
            if (kind == MST_CSV_MISSING && (form->is_label || form->missing == MST_MISSING_REFUSE))
                return missing(csv, row, column, form);
            if (kind == MST_CSV_MISSING) number = NAN;
            if (kind == MST_CSV_TEXT) return not_as_before(csv, row, column, form, "number");
            if (isinf((float)number)) return too_large(csv, row, column);
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
