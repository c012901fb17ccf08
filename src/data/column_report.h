/** What is worth telling of the columns of a table, by its schema: numbers in another notation, dates, categories. */
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
    bool is_dates;                   /**< which are dates */
    bool is_utf8;                    /**< else NAME or EXAMPLE is not */
    char example[MST_COLUMN_SHOWN];  /**< one of them, as NAME */
} mst_column_report;

/** Those of the table that the schema TEXT (mst_dataset_schema; NULL: none) describes: *COUNT of them in *OUT, to be
 *  freed with free(); the numbers of a date are one column. *COUNT is 0 where it is of no table. */
MST_API MST_CHECKED mst_status mst_column_reports(const char *text, mst_column_report **out, int *count);

#endif
