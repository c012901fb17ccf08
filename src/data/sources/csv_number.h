/** Numbers in the cells of a table, as programs and countries write them: 1.5, or in other notations 1.234,5 or
 *  $1,234.50 or 12 %. A column has one notation, which is found by reading all of its cells. */
#ifndef MUSTER_DATA_SOURCES_CSV_NUMBER_H
#define MUSTER_DATA_SOURCES_CSV_NUMBER_H

#include <stdbool.h>

#include "format/csv.h"

enum { MST_CSV_SIGN = 8, MST_CSV_NOTATION_TEXT = 96 };

/** How the numbers of a column are written. Zero-initialised: as C writes them. */
typedef struct mst_csv_notation {
    char decimal;   /**< ',' or '.'; 0 means '.' */
    char thousands; /**< between groups of three digits: ',', '.', '\'' or ' ' (any kind of space); 0: none was seen,
                         but with a decimal comma or a sign, ',' or '.' is accepted */
    char sign[MST_CSV_SIGN]; /**< before or after each number, without effect on it: "%", "$", "€", ...; "": none */
} mst_csv_notation;

typedef enum mst_csv_cell_kind {
    MST_CSV_MISSING, /**< empty, or a word for it in pandas: NA, N/A, n/a, NaN, nan, null, NULL, None, ... */
    MST_CSV_INTEGER,
    MST_CSV_FLOAT,
    MST_CSV_TEXT,
    MST_CSV_NUM_CELLS
} mst_csv_cell_kind;

/** Reads CELL in NOTATION (NULL: as C writes numbers). Sets *INTEGER and *NUMBER for an integer, and
 *  *NUMBER for a float. Numbers are decimal: inf and 0x10 are text. */
mst_csv_cell_kind mst_csv_cell_read(const char *cell, const mst_csv_notation *notation, int64_t *integer,
                                    double *number);

/** The same for a number that lacks the sign of NOTATION. */
mst_csv_cell_kind mst_csv_cell_read_unsigned(const char *cell, const mst_csv_notation *notation, int64_t *integer,
                                             double *number);

/** Whether SIGN is one of those that numbers may have: "%", "$", "€", "£" or "¥". */
bool mst_csv_sign_is_known(const char *sign);
bool mst_csv_notation_is_plain(const mst_csv_notation *notation);
/** Writes "a decimal comma and '.' between thousands" to TEXT, of MST_CSV_NOTATION_TEXT bytes, and returns TEXT. */
const char *mst_csv_notation_print(const mst_csv_notation *notation, char *text);

/** Finds the notation in which all cells of column COLUMN of CSV are numbers, except those that are missing. It has the
 *  decimal mark and the thousands separator of GIVEN if these are not 0. *FOUND is false if no notation fits.
 *  MST_INVALID, naming a cell, if two fit and give different numbers: 100,500 is 100.5 or 100500. */
MST_CHECKED mst_status mst_csv_notation_find(const mst_csv *csv, int column, const mst_csv_notation *given,
                                             mst_csv_notation *out, bool *found);
/** The first row whose cell in column COLUMN of CSV is another number in B than in A. All cells are numbers in A. -1:
 *  there is no such row, or some cell is not a number in B. */
int64_t mst_csv_notation_doubt(const mst_csv *csv, int column, const mst_csv_notation *a, const mst_csv_notation *b);
/** Whether exactly one notation fits the N cells of LIST, as above. */
bool mst_csv_notation_fits(const char *const *list, int64_t n);

#endif
