/** Recognises texts that look like dates or times, also in notations that are not read. */
#ifndef MUSTER_DATA_SOURCES_CSV_DATE_WORDS_H
#define MUSTER_DATA_SOURCES_CSV_DATE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The number, 1 to 12, of the month whose English name, in full or in short, is at the beginning of TEXT; 0: none is.
 *  *SIZE is the number of letters of the name; 0 if there is no such name. */
int64_t mst_csv_month_named(const char *text, size_t *size);
/** How much a text looks like a date or a time. */
typedef enum mst_csv_date_look {
    MST_CSV_NO_DATE_LOOK,
    MST_CSV_DATE_LOOK_BESIDE, /**< a date if all texts of the column look at least this much like dates, and one of them
                                   more than this: 1.2.13 may also be a version, 2010/11 a season */
    MST_CSV_DATE_LOOK_IF_ALL, /**< a date if all texts of the column look like one: 12-10-33 may also be a code, 3:16
                                   a score */
    MST_CSV_DATE_LOOK         /**< 1/10/2020, Jan 2020, 2020-01, 20200110T0507, 05:07, Fri 10 Jan */
} mst_csv_date_look;
mst_csv_date_look mst_csv_date_look_of(const char *cell);
/** Whether CELL looks like a date or a time at all. */
bool mst_csv_looks_like_date(const char *cell);

#endif
