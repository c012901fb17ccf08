/** Dates in the cells of a table, read as numbers: 2024-02-29, 2024-02-29T12:30:05Z, 29.2.2024, 2/29/2024 12:30 PM,
 *  29 Feb 2024, February 29, 2024, 20240229T123005. */
#ifndef MUSTER_DATA_SOURCES_CSV_DATE_H
#define MUSTER_DATA_SOURCES_CSV_DATE_H

#include <stdbool.h>

#include "format/csv.h"

typedef enum mst_csv_date_part {
    MST_CSV_NO_DATE,
    MST_CSV_YEAR,
    MST_CSV_MONTH,   /**< 1 to 12 */
    MST_CSV_WEEKDAY, /**< Monday is 0 */
    MST_CSV_SECONDS, /**< since 1970-01-01 00:00, in UTC if the cell has a time zone */
    MST_CSV_NUM_DATE_PARTS
} mst_csv_date_part;

/** "year", "month", "weekday", "seconds"; "" for MST_CSV_NO_DATE. */
extern const char *const mst_csv_date_part_names[MST_CSV_NUM_DATE_PARTS];

/** What comes first in 3/4/2024 or 3-4-2024. All cells of a column have the same order. */
typedef enum mst_csv_date_order { MST_CSV_ANY_ORDER, MST_CSV_DAY_FIRST, MST_CSV_MONTH_FIRST } mst_csv_date_order;

/** Sets *OUT to part PART of the date in CELL, which may have spaces around it. False if CELL is not a date in
 *  ORDER. */
bool mst_csv_date_read(const char *cell, mst_csv_date_order order, mst_csv_date_part part, int64_t *out);
/** Finds the order in which all cells of column COLUMN of CSV that are not empty are dates. MST_INVALID, naming a cell,
 *  if no order fits, or if both fit and give different dates. */
MST_CHECKED mst_status mst_csv_date_find(const mst_csv *csv, int column, mst_csv_date_order *out);
/** Whether at least half of the N different texts in LIST look like dates or times, in any notation. *LIKE is the index
 *  of one of these. *ODD is the index of the first text that mst_csv_date_find would refuse; -1: it would accept
 *  all. */
bool mst_csv_dates_look(const char *const *list, int64_t n, int64_t *like, int64_t *odd);

#endif
