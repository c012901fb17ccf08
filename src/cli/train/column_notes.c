#include "cli/train/column_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/json_events.h"
#include "data/column_report.h"

enum { FEWEST_DIFFERENT = 10 };

void column_notes_print(const char *schema) {
    mst_column_report *column;
    int count;
    if (mst_column_reports(schema, &column, &count)) return;
    for (int i = 0; i < count; i++)
        if (*column[i].reading) printf(", %s %s", column[i].name, column[i].reading);
    free(column);
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

/* Whether LIST, "a,b", contains NAME, which is in quotes. */
static bool is_listed(const char *list, const char *name) {
    const size_t size = strlen(name) - 2;
    for (const char *at = list; at; at = strchr(at, ','), at = at ? at + 1 : NULL)
        if (strcspn(at, ",") == size && strncmp(at, name + 1, size) == 0) return true;
    return false;
}

static void warn_of_dates(const mst_column_report *column) {
    command_warn(
        "column %s has dates, such as %s, which become %" PRId64
        " categories without an order: %s; "
        "--categories is for those that are meant so",
        column->name, column->example, column->num_categories,
        column->is_label ? "write numbers in place of them" : "--dates makes numbers of them, --drop leaves them out");
}

static void warn_of_texts(const mst_column_report *column, int64_t rows) {
    command_warn(
        "column %s has %" PRId64 " different texts in %" PRId64
        " rows, such as %s: as %s nothing can be "
        "learnt from them: %s; --categories is for those that are meant so",
        column->name, column->num_categories, rows, column->example, column->is_label ? "classes" : "categories",
        column->is_label ? "write numbers as 1234.5" : "write numbers as 1234.5, or leave the column out with --drop");
}

/* Text that is not UTF-8 is shown with its bytes as numbers. */
static mst_status check_encoding(const mst_column_report *column) {
    if (column->is_utf8) return MST_OK;
    return MST_FAIL(
        MST_INVALID,
        "column %s%s%s: is not UTF-8: convert the table, as by iconv -f latin1 -t utf-8, or leave the column "
        "out with --drop",
        column->name, column->num_categories ? ", such as " : "", column->example);
}

mst_status column_notes_check(const char *schema, const char *categories, int64_t rows) {
    mst_column_report *column;
    int count;
    MST_TRY(mst_column_reports(schema, &column, &count));
    mst_status status = MST_OK;
    for (int i = 0; i < count && !status; i++) {
        const int64_t different = column[i].num_categories;
        status = check_encoding(&column[i]);
        if (status || is_listed(categories, column[i].name)) continue;
        if (column[i].is_dates)
            warn_of_dates(&column[i]);
        else if (rows >= 0 && different >= FEWEST_DIFFERENT && different > rows / 2)
            warn_of_texts(&column[i], rows);
    }
    free(column);
    return status;
}
