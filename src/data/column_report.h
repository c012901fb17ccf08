/** What the schema of a table says about its columns that a user should know: numbers in another notation, dates,
 *  categories. */
#ifndef MUSTER_DATA_COLUMN_REPORT_H
#define MUSTER_DATA_COLUMN_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/status.h"

enum { MST_COLUMN_SHOWN = 64, MST_COLUMN_READING = 96 };

typedef struct mst_column_report {
    char name[MST_COLUMN_SHOWN]; /**< on one line, with quotes */
    bool is_label;               /**< the last column */
    char
        reading[MST_COLUMN_READING]; /**< "with a decimal comma", or of dates "as year and month"; "": as C writes it */
    int64_t num_categories;          /**< 0: it has none */
    bool looks_like_dates;           /**< at least half of its categories look like dates or times; EXAMPLE is one */
    char no_date[MST_COLUMN_SHOWN];  /**< one of these categories that cannot be read as a date, or ""; as NAME */
    bool has_other_dates;            /**< NO_DATE looks like a date or time */
    bool looks_like_numbers;         /**< its categories are numbers that are not read: 0x10, inf, 5 EUR, (5) */
    char spaced[MST_COLUMN_SHOWN];   /**< a category that equals another one but for spaces around it, or ""; as NAME */
    char missing[MST_COLUMN_SHOWN];  /**< the category that stands for a missing value, such as NA, or ""; as NAME */
    bool is_utf8;                    /**< both NAME and EXAMPLE are UTF-8 */
    char example[MST_COLUMN_SHOWN];  /**< one of the categories, in the form of NAME */
} mst_column_report;

/** Reports on the columns of the table with the schema TEXT (mst_dataset_schema; NULL: none): *COUNT of them in *OUT,
 *  to be freed with free(). The numbers of a date are one column. *COUNT is 0 if TEXT is not the schema of a table. */
MST_API MST_CHECKED mst_status mst_column_reports(const char *text, mst_column_report **out, int *count);
/** Whether NAME is the name of COLUMN. */
MST_API bool mst_column_is_named(const mst_column_report *column, const char *name);

#endif
