/** Numbers in the cells of a table, as programs and countries write them: 1.5, or in another notation 1.234,5 or
 *  $1,234.50 or 12 %. A column has one notation, which is found by reading all of its cells. */
#ifndef MUSTER_DATA_SOURCES_CSV_NUMBER_H
#define MUSTER_DATA_SOURCES_CSV_NUMBER_H

#include <stdbool.h>

#include "format/csv.h"

enum { MST_CSV_SIGN = 8, MST_CSV_NOTATION_TEXT = 96 };

/** How the numbers of a column are written. Zero-initialised: as C writes them. */
typedef struct mst_csv_notation {
    char decimal;   /**< ',' or '.'; 0: '.' */
    char thousands; /**< between groups of three digits: ',', '.', '\'' or ' ' (also for no-break spaces); 0: nothing,
                         or with a decimal comma or a sign, ',' or '.' though none was seen */
    char sign[MST_CSV_SIGN]; /**< before or after each number, ignored: "%", "$", "€", ...; "": none */
} mst_csv_notation;

typedef enum mst_csv_cell_kind {
    MST_CSV_MISSING, /**< empty, or a word of pandas for it: NA, N/A, n/a, NaN, nan, null, NULL, None, ... */
    MST_CSV_INTEGER,
    MST_CSV_FLOAT,
    MST_CSV_TEXT,
    MST_CSV_NUM_CELLS
} mst_csv_cell_kind;

/** What CELL is in NOTATION (NULL: as C writes numbers). Sets *INTEGER and *NUMBER for an integer, *NUMBER for a float.
 *  Numbers are decimal: inf and 0x10 are text. */
mst_csv_cell_kind mst_csv_cell_read(const char *cell, const mst_csv_notation *notation, int64_t *integer,
                                    double *number);

/** The same of a number in NOTATION without its sign. */
mst_csv_cell_kind mst_csv_cell_read_unsigned(const char *cell, const mst_csv_notation *notation, int64_t *integer,
                                             double *number);

/** Whether SIGN is one that numbers may have: "%", "$", "€", "£" or "¥". */
bool mst_csv_sign_is_known(const char *sign);
bool mst_csv_notation_is_plain(const mst_csv_notation *notation);
/** "a decimal comma and '.' between thousands", in TEXT of MST_CSV_NOTATION_TEXT bytes, which is returned. */
const char *mst_csv_notation_print(const mst_csv_notation *notation, char *text);

/** The notation in which all cells of column COLUMN of CSV that are not missing are numbers, with the decimal mark and
 *  the thousands separator of GIVEN if they are not 0. *FOUND is false if there is none. MST_INVALID, naming a cell, if
 *  two notations fit and give different numbers: 100,500 is 100.5 or 100500. */
MST_CHECKED mst_status mst_csv_notation_find(const mst_csv *csv, int column, const mst_csv_notation *given,
                                             mst_csv_notation *out, bool *found);
/** The first row in which the cell of column COLUMN of CSV is another number in B than in A. All cells are numbers in
 *  A. -1: there is none, or a cell is no number in B. */
int64_t mst_csv_notation_doubt(const mst_csv *csv, int column, const mst_csv_notation *a, const mst_csv_notation *b);
/** Whether exactly one notation fits the N cells of LIST in this way. */
bool mst_csv_notation_fits(const char *const *list, int64_t n);

#endif
