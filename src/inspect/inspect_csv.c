/* Tables with a header. The report has each column with its type, and its range or categories.
 *
 * The delimiter is guessed: it is the most frequent of ',', ';' and tab in the first line; if that has none of them, it
 * is MST_CSV_DELIMITER. A file is recognised by its suffix, or by its first two lines if they have equally many
 * delimiters. Columns are read as in training (data/sources/csv_column.h). */
#include "format/csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/sources/csv_column.h"
#include "inspect/inspector.h"
#include "inspect/statistics.h"

enum { SHOWN_CATEGORIES = 8, LISTED_CATEGORIES = 100 };

/* Counts the delimiters outside of quotes in the line at TEXT; *NEXT is where the next line begins. */
static size_t count(const char *text, const char *end, char delimiter, const char **next) {
    size_t found = 0;
    bool quoted = false;
    for (; text < end && (quoted || (*text != '\n' && *text != '\r')); text++) {
        quoted ^= *text == '"';
        found += !quoted && *text == delimiter;
    }
    *next = end - text >= 2 && *text == '\r' && text[1] == '\n' ? text + 2 : text < end ? text + 1 : end;
    return found;
}

static char delimiter_of(const mst_inspect_source *s, bool *regular) {
    static const char delimiters[] = ",;\t";
    const char *text = (const char *)s->head, *end = text + s->size, *second, *third;
    char best = MST_CSV_DELIMITER;
    size_t most = 0;
    for (const char *d = delimiters; *d; d++) {
        const size_t found = count(text, end, *d, &second);
        if (found <= most) continue;
        most = found;
        best = *d;
        *regular = second < end && count(second, end, *d, &third) == found;
    }
    return best;
}

static mst_inspect_match inspect_csv_knows(const mst_inspect_source *s) {
    bool regular = false;
    mst_inspect_source plain = *s;
    plain.is_packed = false; /* tables may be gzip, and the head is already decompressed */
    if (!mst_inspect_is_text(&plain)) return MST_INSPECT_NO;
    (void)delimiter_of(s, &regular);
    return regular ? MST_INSPECT_LIKELY : MST_INSPECT_NO;
}

/* ---- columns ---- */

typedef struct column_row {
    int64_t of[MST_CSV_NUM_CELLS]; /* number of cells of each kind */
    mst_statistics numbers;
} column_row;

static column_row scan(const mst_csv *csv, int column, const mst_csv_notation *notation) {
    column_row row = {.numbers = MST_STATISTICS};
    for (int64_t i = 0; i < mst_csv_num_rows(csv); i++) {
        int64_t integer;
        double number = 0;
        const mst_csv_cell_kind kind = mst_csv_cell_read(mst_csv_cell(csv, i, column), notation, &integer, &number);
        row.of[kind]++;
        if (kind == MST_CSV_INTEGER || kind == MST_CSV_FLOAT) mst_statistics_add(&row.numbers, number);
    }
    return row;
}

static void print_numbers(mst_report *r, json_t *item, const char *name, const column_row *row, const char *missing,
                          const mst_csv_notation *notation) {
    char text[MST_STATISTICS_TEXT], written[MST_CSV_NOTATION_TEXT];
    const char *type = row->of[MST_CSV_FLOAT] ? "floats" : "integers";
    const char *with = mst_csv_notation_print(notation, written);
    if (*with) mst_report_set(r, item, "notation", json_string(with));
    mst_report_set(r, item, "type", json_string(type));
    mst_report_statistics(r, item, &row->numbers);
    mst_report_line(r, "%-24s %-10s%s%s%s%s", name, type, mst_statistics_print(&row->numbers, text), missing,
                    *with ? ", with " : "", with);
}

static int compare(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void count_categories(const mst_csv *csv, int column, const mst_csv_column *form, int64_t *counts) {
    for (int64_t i = 0; i < mst_csv_num_rows(csv); i++) {
        const char *cell = mst_csv_cell(csv, i, column);
        const char **found =
            bsearch(&cell, form->category, (size_t)form->num_categories, sizeof *form->category, compare);
        if (found) counts[found - form->category]++;
    }
}

static void list_categories(mst_report *r, json_t *item, const mst_csv_column *form, const int64_t *counts) {
    json_t *list = json_array();
    for (int64_t i = 0; i < form->num_categories && i < LISTED_CATEGORIES; i++) {
        json_t *category = json_object();
        mst_report_set(r, category, "name", mst_report_string(form->category[i], strlen(form->category[i])));
        mst_report_set(r, category, "count", json_integer(counts[i]));
        json_array_append_new(list, category);
        char shown[MST_CSV_SHOWN];
        if (i < SHOWN_CATEGORIES)
            mst_report_line(r, "  %-22s %" PRId64, mst_csv_show(form->category[i], shown), counts[i]);
    }
    const int64_t more = form->num_categories - SHOWN_CATEGORIES;
    if (more > 0) mst_report_line(r, "  and %" PRId64 " more", more);
    mst_report_set(r, item, "num_categories", json_integer(form->num_categories));
    mst_report_set(r, item, "categories", list);
}

static mst_status print_categories(mst_report *r, json_t *item, const mst_csv *csv, int column, const char *name,
                                   const column_row *row, const char *missing) {
    mst_csv_column form = {0};
    char mixed[64] = "";
    const int64_t numbers = row->of[MST_CSV_INTEGER] + row->of[MST_CSV_FLOAT];
    mst_status status = mst_csv_column_find(csv, column, &(mst_csv_reading){.categories = true}, &form);
    int64_t *counts = status ? NULL : calloc((size_t)form.num_categories, sizeof *counts);
    if (counts) {
        if (numbers && row->of[MST_CSV_TEXT]) snprintf(mixed, sizeof mixed, ", %" PRId64 " are numbers", numbers);
        mst_report_set(r, item, "type", json_string(*mixed ? "mixed" : "categories"));
        mst_report_line(r, "%-24s %-10s  %" PRId64 " different%s%s", name, *mixed ? "mixed" : "categories",
                        form.num_categories, mixed, missing);
        count_categories(csv, column, &form, counts);
        list_categories(r, item, &form, counts);
    }
    free(counts);
    mst_csv_column_free(&form);
    return status;
}

/* Finds the notation of the numbers in COLUMN. False if none fits, or if two fit, which training refuses. The cells are
 * then shown as they are. */
static bool find_notation(const mst_csv *csv, int column, mst_csv_notation *out) {
    bool found = false;
    return !mst_csv_notation_find(csv, column, NULL, out, &found) && found;
}

static mst_status print_column(mst_report *r, const mst_csv *csv, int column) {
    char name[MST_REPORT_NAME], missing[48] = "";
    const char *header = mst_csv_header(csv, column);
    mst_csv_notation notation = {0};
    column_row row = scan(csv, column, NULL);
    if (row.of[MST_CSV_TEXT] && find_notation(csv, column, &notation)) row = scan(csv, column, &notation);
    json_t *item = mst_report_item(r, "columns");
    mst_report_name(header, strlen(header), name);
    mst_report_set(r, item, "name", mst_report_string(header, strlen(header)));
    mst_report_set(r, item, "missing", json_integer(row.of[MST_CSV_MISSING]));
    if (row.of[MST_CSV_MISSING]) snprintf(missing, sizeof missing, ", %" PRId64 " missing", row.of[MST_CSV_MISSING]);
    if (row.of[MST_CSV_TEXT]) return print_categories(r, item, csv, column, name, &row, missing);
    if (row.of[MST_CSV_INTEGER] + row.of[MST_CSV_FLOAT])
        print_numbers(r, item, name, &row, missing, &notation);
    else
        mst_report_line(r, "%-24s %s", name, "all cells are empty");
    return MST_OK;
}

static mst_status inspect_csv_print(const mst_inspect_source *source, mst_report *report) {
    bool regular = false;
    mst_csv *csv;
    const char delimiter = delimiter_of(source, &regular);
    mst_status status = mst_csv_read(source->path, &(mst_csv_format){.delimiter = delimiter}, &csv);
    const int64_t rows = status ? 0 : mst_csv_num_rows(csv), columns = status ? 0 : mst_csv_num_columns(csv);
    mst_report_title(report, "CSV", "%" PRId64 " rows, %" PRId64 " columns%s", rows, columns,
                     delimiter == ';'    ? ", separated by semicolons"
                     : delimiter == '\t' ? ", separated by tabs"
                                         : "");
    mst_report_set(report, NULL, "rows", json_integer(rows));
    mst_report_set(report, NULL, "delimiter", json_stringn(&delimiter, 1));
    for (int i = 0; i < columns && !status; i++) status = print_column(report, csv, i);
    mst_csv_close(csv);
    return status;
}

const mst_inspector mst_inspector_csv = {
    .name = "CSV", .suffixes = ".csv .tsv .csv.gz .tsv.gz", .knows = inspect_csv_knows, .print = inspect_csv_print};
