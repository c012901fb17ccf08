/** What dates and times look like, also in notations that are not read. */
#ifndef MUSTER_DATA_SOURCES_CSV_DATE_WORDS_H
#define MUSTER_DATA_SOURCES_CSV_DATE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The month, 1 to 12, that the letters at the beginning of TEXT name in English, in full or in short; 0: none. *SIZE
 *  is how many letters these are. */
int64_t mst_csv_month_named(const char *text, size_t *size);
/** Whether CELL looks like a date or a time: 1/10/20, Jan 2020, 2020-01, 20200110T0507, 05:07, Fri 10 Jan. */
bool mst_csv_looks_like_date(const char *cell);

#endif
