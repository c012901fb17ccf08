/** Columns of a CSV file as numbers or strings. The type of a column is found by reading all of its cells. */
#ifndef MUSTER_DATA_SOURCES_CSV_COLUMN_H
#define MUSTER_DATA_SOURCES_CSV_COLUMN_H

#include <stdbool.h>

#include "data/schema.h"
#include "data/sources/csv_date.h"
#include "data/sources/csv_number.h"
#include "format/csv.h"
#include "muster/dataset.h"

typedef enum mst_csv_type {
    MST_CSV_INTEGERS,
    MST_CSV_FLOATS,
    MST_CSV_CATEGORIES,
    MST_CSV_TEXTS /**< cells as they are; only if asked for */
} mst_csv_type;

typedef struct mst_csv_column {
    const char *name; /**< from the header; the csv owns it, and the categories */
    int place;        /**< index of the column in the csv that it was found in */
    mst_csv_type type;
    const char **category; /**< the different cells, sorted by their bytes; number i stands for category[i] */
    int64_t num_categories;
    mst_csv_notation notation; /**< for numbers */
    mst_csv_date_part part;    /**< for dates: each cell becomes an integer, this part of the date */
    mst_csv_date_order order;  /**< for dates */
    mst_missing missing;       /**< what a missing f32 becomes */
    bool unknown_categories;   /**< true: a category that is not in the list becomes -1; false: it is an error */
    bool is_label;             /**< no cell may be missing */
    bool is_weight;            /**< of examples: messages speak of weights */
} mst_csv_column;

/** What the options say about a column. Zero-initialised: nothing. */
typedef struct mst_csv_reading {
    bool categories;           /**< the column has categories, even if its cells are numbers */
    mst_csv_date_part part;    /**< the column has dates, and this part of them is taken */
    mst_csv_notation notation; /**< decimal and thousands, as far as the options give them; 0: they do not */
} mst_csv_reading;

/** Finds the type of column COLUMN of CSV. AS is what the options say (NULL: nothing). The caller sets OUT->missing and
 *  OUT->is_label before. A column of integers becomes floats if a number is missing, where that is allowed. Numbers
 *  that are not written as in C are read if exactly one notation fits. Free OUT also after a failure. Fails with
 *  MST_INVALID, naming the cell, if
 *    - a number is missing and must not be, or all cells are missing
 *    - numbers and text are mixed
 *    - a number can be read in two ways
 *    - a cell among dates is not a date. */
MST_CHECKED mst_status mst_csv_column_find(const mst_csv *csv, int column, const mst_csv_reading *as,
                                           mst_csv_column *out);
/** MST_INVALID, naming a cell, if the notation of numbers in the N COLUMNS of CSV is not clear. That is so if one has a
 *  decimal comma, and the points of another may stand between thousands: 167.942 beside 3,5. IS_NEW: the columns were
 *  found in another file. If a column's numbers had decimal points in that file, its notation is known. */
MST_CHECKED mst_status mst_csv_columns_check(const mst_csv *csv, const mst_csv_column *columns, int n, bool is_new);
void mst_csv_column_free(mst_csv_column *column);

/** Converts a column to the form of a schema, and back. What the result points to belongs to the argument. MST_INVALID
 *  if FROM is not a column of a table. */
mst_schema_column mst_csv_column_to_schema(const mst_csv_column *column);
MST_CHECKED mst_status mst_csv_column_from_schema(const mst_schema_column *from, int place, mst_csv_column *out);

/** Reads the cells of a column of CSV, which may be another file than the one in which FORM was found. The cell in row
 *  r is written to DST[r * STRIDE]. Fails with MST_INVALID, naming the cell, if a cell is not a number as FORM has it,
 *  or if it is a category that FORM does not have. Integers too large for i64 count as floats. */
MST_CHECKED mst_status mst_csv_column_read_i64(const mst_csv *csv, int column, const mst_csv_column *form,
                                               int64_t *dst);
MST_CHECKED mst_status mst_csv_column_read_f32(const mst_csv *csv, int column, const mst_csv_column *form, float *dst,
                                               int64_t stride);
/** The same as strings, to a tensor with one element per row. */
MST_CHECKED mst_status mst_csv_column_read_texts(const mst_csv *csv, int column, mst_tensor *dst);

#endif
