/** What dates and times look like, also in notations that are not read. */
#ifndef MUSTER_DATA_SOURCES_CSV_DATE_WORDS_H
#define MUSTER_DATA_SOURCES_CSV_DATE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The month, 1 to 12, that the letters at the beginning of TEXT name in English, in full or in short; 0: none. *SIZE
 *  is how many letters these are. */
int64_t mst_csv_month_named(const char *text, size_t *size);
/** How much a text looks like a date or a time. */
typedef enum mst_csv_date_look {
    MST_CSV_NO_DATE_LOOK,
    MST_CSV_DATE_LOOK_BESIDE, /**< if all texts of the column look so, and one of them more: 1.2.13, a version; 2010/11,
                                   a season */
    MST_CSV_DATE_LOOK_IF_ALL, /**< if all texts of the column look like dates: 12-10-33, a code; 3:16, a score */
    MST_CSV_DATE_LOOK         /**< 1/10/2020, Jan 2020, 2020-01, 20200110T0507, 05:07, Fri 10 Jan */
} mst_csv_date_look;
mst_csv_date_look mst_csv_date_look_of(const char *cell);
/** Whether CELL looks like a date or a time at all. */
bool mst_csv_looks_like_date(const char *cell);

#endif
