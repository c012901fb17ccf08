/** Columns of a CSV file as numbers, or as strings: what the cells of a column are is found by reading all of them. */
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
    MST_CSV_TEXTS /**< cells as they are: only if asked for */
} mst_csv_type;

typedef struct mst_csv_column {
    const char *name; /**< from the header; that csv keeps it, and the categories */
    int place;        /**< column of the csv that it was found in */
    mst_csv_type type;
    const char **category; /**< the different cells, sorted by their bytes; number i stands for category[i] */
    int64_t num_categories;
    mst_csv_notation notation; /**< of numbers */
    mst_csv_date_part part;    /**< of dates: the cells become integers, this part of each date */
    mst_csv_date_order order;  /**< of dates */
    mst_missing missing;       /**< what becomes of an f32 that is missing */
    bool unknown_categories;   /**< a category that is not in the list becomes -1; else it is an error */
    bool is_label;             /**< no cell may be missing */
} mst_csv_column;

/** How a column is to be read according to the options. Zero-initialised: they say nothing. */
typedef struct mst_csv_reading {
    bool categories;           /**< it has categories, even if its cells are numbers */
    mst_csv_date_part part;    /**< it has dates: this part of them is taken */
    mst_csv_notation notation; /**< members decimal and thousands that are not 0 are given */
} mst_csv_reading;

/** Finds the type of column COLUMN of CSV, read as AS says (NULL: nothing). The caller sets OUT->missing and
 *  OUT->is_label before. Integers become floats if one may be missing. Numbers in another notation are read if only one
 *  notation fits. Fails with MST_INVALID, naming the cell, if a number is missing and must not be, all cells are
 *  missing, numbers and text are mixed, a number can be read in two ways, or a cell of dates is not a date. Free it
 *  also after a failure. */
MST_CHECKED mst_status mst_csv_column_find(const mst_csv *csv, int column, const mst_csv_reading *as,
                                           mst_csv_column *out);
/** MST_INVALID, naming a cell, if one of the N COLUMNS of CSV has a decimal comma, and the points of another one may be
 *  between thousands: 167.942 beside 3,5. IS_NEW: they were found in another file, which does not have to tell that of
 *  columns whose numbers had points there. */
MST_CHECKED mst_status mst_csv_columns_check(const mst_csv *csv, const mst_csv_column *columns, int n, bool is_new);
void mst_csv_column_free(mst_csv_column *column);

/** A column as a schema has it, and back: what OUT points to is FROM's. MST_INVALID if FROM is no column of a
 *  table. */
mst_schema_column mst_csv_column_to_schema(const mst_csv_column *column);
MST_CHECKED mst_status mst_csv_column_from_schema(const mst_schema_column *from, int place, mst_csv_column *out);

/** The cells of a column of CSV, which may be another file than the one that FORM was found in: number r is written to
 *  DST[r * STRIDE]. Fails with MST_INVALID, naming the cell, if one is no such number, or a category that FORM does
 *  not have. Integers that i64 cannot hold count as floats. */
MST_CHECKED mst_status mst_csv_column_read_i64(const mst_csv *csv, int column, const mst_csv_column *form,
                                               int64_t *dst);
MST_CHECKED mst_status mst_csv_column_read_f32(const mst_csv *csv, int column, const mst_csv_column *form, float *dst,
                                               int64_t stride);
/** The same as strings, to a tensor of as many as there are rows. */
MST_CHECKED mst_status mst_csv_column_read_texts(const mst_csv *csv, int column, mst_tensor *dst);

#endif
