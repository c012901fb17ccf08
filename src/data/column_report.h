/** What users should know about the columns of a table, found in its schema: numbers that are not written as in C,
 *  dates, and categories that look wrong. */
#ifndef MUSTER_DATA_COLUMN_REPORT_H
#define MUSTER_DATA_COLUMN_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/status.h"

enum { MST_COLUMN_SHOWN = 64, MST_COLUMN_READING = 96 };

typedef struct mst_column_report {
    char name[MST_COLUMN_SHOWN];      /**< on one line, with quotes */
    bool is_label;                    /**< the last column, or one of several at the end */
    char reading[MST_COLUMN_READING]; /**< "with a decimal comma", or for dates "as year and month"; "": as in C */
    int64_t num_categories;           /**< 0: the column has no categories */
    bool looks_like_dates;            /**< at least half of its categories look like dates or times, such as
                                       *   `example` */
    char no_date[MST_COLUMN_SHOWN];   /**< a category that cannot be read as a date, or ""; printed like `name` */
    bool has_other_dates;             /**< `no_date` looks like a date or time */
    bool looks_like_numbers;          /**< the categories are numbers that are not read: 0x10, inf, 5 EUR, (5) */
    char spaced[MST_COLUMN_SHOWN];    /**< a category that differs from another only by spaces around it, or ""; printed
                                       *   like `name` */
    char missing[MST_COLUMN_SHOWN];   /**< the category for missing values, such as NA, or ""; printed like `name` */
    bool is_utf8;                     /**< both `name` and `example` are UTF-8 */
    char example[MST_COLUMN_SHOWN];   /**< one of the categories; printed like `name` */
} mst_column_report;

/** Reports on the columns of a table, whose schema is TEXT (from mst_dataset_schema; NULL: no schema). *OUT gets *COUNT
 *  reports; free it with free(). The numbers of one date share a report. *COUNT is 0 if TEXT is not the schema of a
 *  table. */
MST_API MST_CHECKED mst_status mst_column_reports(const char *text, mst_column_report **out, int *count);
/** Whether the names of the columns look like values: columns of numbers have numbers as names, and columns of
 *  categories have names that are among their categories. Numbers at equal steps, such as years, are taken for names.
 *  TEXT is as above. */
MST_API bool mst_header_looks_like_data(const char *text);
/** Whether NAME is the name of COLUMN. */
MST_API bool mst_column_is_named(const mst_column_report *column, const char *name);

#endif
