#include "data/column_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/number.h"
#include "data/schema.h"
#include "data/sources/csv_column.h"
#include "data/sources/csv_date_words.h"
#include "tensor/tokens.h"

_Static_assert((int)MST_COLUMN_SHOWN >= (int)MST_CSV_SHOWN, "a name fits");

static bool is_utf8(const char *text) {
    return mst_text_check((mst_string){text, strlen(text)}) == MST_OK;
}

static void add_part(const char *part, mst_column_report *out) {
    const size_t used = strlen(out->reading);
    snprintf(out->reading + used, sizeof out->reading - used, "%s%s", used ? " and " : "as ", part);
}

/* Describes how the cells of COLUMN are read. The schema may come from anywhere, and its texts are printed: a part of a
 * date or a sign that is not known is refused. */
static mst_status add_reading(const mst_schema_column *column, mst_column_report *out) {
    char text[MST_CSV_NOTATION_TEXT];
    mst_csv_column form = {0};
    if (!column->part && !column->decimal) return MST_OK;
    const mst_status status = mst_csv_column_from_schema(column, 0, &form);
    if (!status && column->part)
        add_part(column->part, out);
    else if (!status)
        snprintf(out->reading, sizeof out->reading, "with %.80s", mst_csv_notation_print(&form.notation, text));
    mst_csv_column_free(&form);
    return status;
}

static bool is_missing(const char *text) {
    int64_t integer;
    double number;
    return *text && mst_csv_cell_read(text, NULL, &integer, &number) == MST_CSV_MISSING;
}

/* Whether TEXT is a number that is not decimal, as strtod reads it: 0x10, inf. */
static bool is_other_number(const char *text) {
    char *end;
    (void)mst_number_start(text, &end);
    return end > text && !*end;
}

/* The text after the number at the beginning of TEXT: " EUR" in "5 EUR", ")" in "(5)". NULL if there is none, or if
 * more digits follow, as in 20-29, 1.2.3 and 12a4. */
static const char *unit_of(const char *text) {
    const char *number = text + strspn(text, " +-("), *rest = number + strspn(number, "0123456789.,'");
    const char *point = strchr(number, '.');
    const bool is_version = point && point < rest && !memchr(number, ',', (size_t)(rest - number)) &&
                            memchr(point + 1, '.', (size_t)(rest - point - 1));
    if (is_version || !strpbrk(number, "0123456789") || rest == number) return NULL;
    return strpbrk(rest, "0123456789") ? NULL : rest;
}

/* Whether every category, apart from missing values, is a number in a notation that is not read, or a number with a
 * unit that all of them share. */
static bool look_like_numbers(const mst_schema_column *column) {
    const char *unit = NULL;
    int64_t numbers = 0, with_unit = 0;
    for (int64_t i = 0; i < column->num_categories; i++) {
        const char *text = column->category[i], *rest = unit_of(text);
        if (!*text || is_missing(text)) continue;
        const bool is_other = is_other_number(text), has_unit = rest && (!unit || strcmp(rest, unit) == 0);
        if (!is_other && !has_unit) return false;
        if (!is_other) unit = rest;
        numbers++;
        with_unit += !is_other;
    }
    return numbers > 1 || (numbers == 1 && !with_unit);
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Copies to OUT the first category that equals another one except for spaces around it. */
static mst_status find_spaces(const mst_schema_column *column, mst_column_report *out) {
    for (int64_t i = 0; i < column->num_categories && !*out->spaced; i++) {
        const char *text = column->category[i], *begin = text + strspn(text, " \t");
        size_t size = strlen(begin);
        while (size && (begin[size - 1] == ' ' || begin[size - 1] == '\t')) size--;
        if (size == strlen(text)) continue;
        char *const trimmed = strndup(begin, size);
        if (!trimmed) return MST_NO_MEMORY("for a category");
        if (bsearch(&trimmed, column->category, (size_t)column->num_categories, sizeof *column->category,
                    compare_texts))
            mst_csv_show(text, out->spaced);
        free(trimmed);
    }
    return MST_OK;
}

static mst_status describe_column(const mst_schema_column *column, mst_column_report *out) {
    mst_csv_show(column->name, out->name);
    out->num_categories = column->num_categories;
    out->is_utf8 = is_utf8(column->name);
    MST_TRY(add_reading(column, out));
    if (!column->category) return MST_OK;
    int64_t example = column->num_categories / 2, odd = -1; /* odd: a category that is not a date */
    out->looks_like_dates = mst_csv_dates_look(column->category, column->num_categories, &example, &odd);
    if (out->looks_like_dates && odd >= 0) {
        mst_csv_show(column->category[odd], out->no_date);
        out->has_other_dates = mst_csv_looks_like_date(column->category[odd]);
    }
    out->looks_like_numbers = look_like_numbers(column);
    MST_TRY(find_spaces(column, out));
    for (int64_t i = 0; i < column->num_categories && !*out->missing; i++)
        if (is_missing(column->category[i])) mst_csv_show(column->category[i], out->missing);
    mst_csv_show(column->category[example], out->example);
    for (int64_t i = 0; i < column->num_categories && out->is_utf8; i++) {
        out->is_utf8 = is_utf8(column->category[i]);
        if (!out->is_utf8) mst_csv_show(column->category[i], out->example);
    }
    return MST_OK;
}

static mst_status describe_columns(const mst_schema *schema, mst_column_report **out, int *count) {
    mst_column_report *all = calloc((size_t)schema->num_columns, sizeof *all);
    mst_status status = all ? MST_OK : MST_NO_MEMORY("for the columns of a table");
    int n = 0;
    for (int i = 0; i < schema->num_columns && !status; i++) {
        const mst_schema_column *column = &schema->column[i];
        const bool same_date = i && column->part && strcmp(column->name, schema->column[i - 1].name) == 0;
        if (same_date)
            status = add_reading(column, &all[n - 1]);
        else
            status = describe_column(column, &all[n++]);
    }
    if (status) {
        free(all);
        return status;
    }
    for (int i = n > schema->num_labels ? n - schema->num_labels : 0; i < n; i++) all[i].is_label = true;
    *out = all;
    *count = n;
    return MST_OK;
}

mst_status mst_column_reports(const char *text, mst_column_report **out, int *count) {
    mst_schema schema;
    *out = NULL;
    *count = 0;
    if (!text) return MST_OK;
    mst_status status = mst_schema_read(text, &schema);
    if (!status && schema.num_columns > 1) status = describe_columns(&schema, out, count);
    mst_schema_free(&schema);
    return status;
}

static bool has_category(const mst_schema_column *column, const char *name) {
    bool found = false;
    for (int64_t i = 0; i < column->num_categories && !found; i++) found = strcmp(column->category[i], name) == 0;
    return found;
}

/* Whether the columns of numbers, without the labels, have integers at equal steps as names, such as years. */
static bool are_steps(const mst_schema *schema) {
    int64_t before = 0, step = 0;
    int count = 0;
    for (int i = 0; i + schema->num_labels < schema->num_columns; i++) {
        const mst_schema_column *column = &schema->column[i];
        int64_t integer = 0;
        double number;
        if (column->category) continue;
        if (mst_csv_cell_read(column->name, NULL, &integer, &number) != MST_CSV_INTEGER) return false;
        if (count > 1 && integer - before != step) return false;
        if (count) step = integer - before;
        before = integer;
        count++;
    }
    return true;
}

static bool is_number(const char *text) {
    int64_t integer;
    double number;
    const mst_csv_cell_kind kind = mst_csv_cell_read(text, NULL, &integer, &number);
    return kind == MST_CSV_INTEGER || kind == MST_CSV_FLOAT;
}

/* In a column with many categories each may occur only once, so a name that is not among them may be one too. */
static bool header_looks_like_data(const mst_schema *schema) {
    enum { MANY = 20 };
    bool is_category = false;
    for (int i = 0; i < schema->num_columns; i++) {
        const mst_schema_column *column = &schema->column[i];
        const bool among = column->category && has_category(column, column->name);
        if (column->category ? !among && column->num_categories <= MANY : !is_number(column->name)) return false;
        is_category |= among;
    }
    return is_category || !are_steps(schema);
}

bool mst_header_looks_like_data(const char *text) {
    mst_schema schema = {0};
    const bool looks =
        text && !mst_schema_read(text, &schema) && schema.num_columns > 1 && header_looks_like_data(&schema);
    mst_schema_free(&schema);
    return looks;
}

bool mst_column_is_named(const mst_column_report *column, const char *name) {
    char shown[MST_CSV_SHOWN];
    return strcmp(mst_csv_show(name, shown), column->name) == 0;
}
