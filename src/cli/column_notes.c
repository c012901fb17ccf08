#include "cli/column_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/json_events.h"
#include "cli/table_options.h"
#include "data/column_report.h"

enum { FEWEST_DIFFERENT = 10 };

bool column_notes_print(const char *schema, const char *before) {
    mst_column_report *column;
    int count, printed = 0;
    if (mst_column_reports(schema, &column, &count)) return false;
    for (int i = 0; i < count; i++)
        if (*column[i].reading) printf("%s%s %s", printed++ ? ", " : before, column[i].name, column[i].reading);
    free(column);
    return printed > 0;
}

void column_notes_add(const char *schema, json_t **event) {
    mst_column_report *column;
    int count;
    if (mst_column_reports(schema, &column, &count)) return;
    json_t *all = json_object();
    for (int i = 0; i < count; i++) {
        char name[MST_COLUMN_SHOWN];
        snprintf(name, sizeof name, "%.*s", (int)strlen(column[i].name) - 2, column[i].name + 1); /* without quotes */
        if (*column[i].reading) json_object_set_new(all, name, json_text(column[i].reading));
    }
    if (json_object_size(all))
        json_add(event, "", "columns_read", all);
    else
        json_decref(all);
    free(column);
}

static void warn_of_dates(const mst_column_report *column) {
    const char *remedy = "--dates makes numbers of them, --drop leaves them out";
    const bool is_refused = !column->is_label && *column->no_date;
    if (column->is_label)
        remedy = "write numbers in place of them";
    else if (is_refused && column->has_other_dates)
        remedy =
            ": write 2024-02-29, 2024-02-29 12:30, or times of day as numbers, or leave the column out with --drop";
    else if (is_refused)
        remedy = ": leave such cells empty and take --missing mean, or leave the column out with --drop";
    command_warn("texts in column %s look like dates or times, such as %s, and become %" PRId64
                 " categories without an order: %s%s%s; --categories is for those that are meant so",
                 column->name, column->example, column->num_categories, is_refused ? "--dates cannot read " : "",
                 is_refused ? column->no_date : "", remedy);
}

static void warn_of_texts(const mst_column_report *column, int64_t rows) {
    command_warn(
        "column %s has %" PRId64 " different texts in %" PRId64
        " rows, such as %s: a network learns nothing from %s that hardly ever repeat: %s; --categories is for those "
        "that are meant so",
        column->name, column->num_categories, rows, column->example, column->is_label ? "classes" : "categories",
        column->is_label ? "write numbers as 1234.5" : "write numbers as 1234.5, or leave the column out with --drop");
}

static void warn_of_numbers(const mst_column_report *column) {
    command_warn("texts in column %s look like numbers, such as %s, and become %" PRId64
                 " categories without an order: write numbers as 1234.5%s; --categories is for those that are meant so",
                 column->name, column->example, column->num_categories,
                 column->is_label ? "" : ", or leave the column out with --drop");
}

static void warn_of_missing(const mst_column_report *column) {
    command_warn(
        "the label %s in column %s is a class like the others: leave out rows whose label is missing; "
        "--categories is for those that are meant so",
        column->missing, column->name);
}

static void warn_of_spaces(const mst_column_report *column) {
    command_warn(
        "column %s has the %s %s, and the same without spaces around it as another: write both alike; "
        "--categories is for those that are meant so",
        column->name, column->is_label ? "class" : "category", column->spaced);
}

/* The error message shows the bytes of text that is not UTF-8 as numbers. */
static mst_status check_encoding(const mst_column_report *column) {
    if (column->is_utf8) return MST_OK;
    return MST_FAIL(
        MST_INVALID,
        "column %s%s%s: is not UTF-8: say --encoding latin1, or which encoding it is (in C: .encoding), or leave the "
        "column out with --drop",
        column->name, column->num_categories ? ", such as " : "", column->example);
}

mst_status column_notes_check(const char *schema) {
    mst_column_report *column;
    int count;
    MST_TRY(mst_column_reports(schema, &column, &count));
    mst_status status = MST_OK;
    for (int i = 0; i < count && !status; i++) status = check_encoding(&column[i]);
    free(column);
    return status;
}

void column_notes_warn_of_header(const char *schema) {
    if (mst_header_looks_like_data(schema))
        command_warn(
            "the first line of the table looks like a row, and is taken as the names of the columns: for a table "
            "without a header say --no-header");
}

mst_status column_notes_warn(const char *schema, const char *categories, int64_t rows) {
    mst_column_report *column;
    int count;
    MST_TRY(mst_column_reports(schema, &column, &count));
    for (int i = 0; i < count; i++) {
        const int64_t different = column[i].num_categories;
        if (table_options_list_has(categories, &column[i])) continue;
        if (column[i].is_label && *column[i].missing) warn_of_missing(&column[i]);
        if (*column[i].spaced) warn_of_spaces(&column[i]);
        if (column[i].looks_like_numbers)
            warn_of_numbers(&column[i]);
        else if (column[i].looks_like_dates)
            warn_of_dates(&column[i]);
        else if (rows >= 0 && different >= FEWEST_DIFFERENT && different > rows / 2)
            warn_of_texts(&column[i], rows);
    }
    free(column);
    return MST_OK;
}
