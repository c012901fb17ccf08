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
    MST_CSV_TEXTS /**< cells as they are: only where asked for */
} mst_csv_type;

typedef struct mst_csv_column {
    const char *name; /**< of the header, which that csv keeps, as it keeps the categories */
    int place;        /**< column of the csv that it was found in */
    mst_csv_type type;
    const char **category; /**< the different cells, sorted by their bytes; number i stands for category[i] */
    int64_t num_categories;
    mst_csv_notation notation; /**< of numbers */
    mst_csv_date_part part;    /**< of dates: integers, this part of each */
    mst_csv_date_order order;  /**< likewise */
    mst_missing missing;       /**< what becomes of an f32 that is missing */
    bool unknown_categories;   /**< a category that is not in the list is -1, and no error */
    bool is_label;             /**< no cell may be missing */
} mst_csv_column;

/** What is asked for of a column. Zero-initialised: nothing. */
typedef struct mst_csv_reading {
    bool categories;           /**< also where its cells are numbers */
    mst_csv_date_part part;    /**< of its dates */
    mst_csv_notation notation; /**< what is not 0 is so: decimal and thousands */
} mst_csv_reading;

/** What column COLUMN of CSV is, as AS asks for it (NULL: nothing). OUT->missing and OUT->is_label are the caller's.
 *  Integers of which one may be missing are floats. Numbers in another notation are numbers where the column leaves one
 *  reading. Fails with MST_INVALID, naming the cell, where a number is missing and must not be, all cells are missing,
 *  or numbers and text are mixed, a number may be another one, or a date is none. Free it also after a failure. */
MST_CHECKED mst_status mst_csv_column_find(const mst_csv *csv, int column, const mst_csv_reading *as,
                                           mst_csv_column *out);
void mst_csv_column_free(mst_csv_column *column);

/** A column as a schema has it, and back: what OUT points to is FROM's. MST_INVALID where FROM is no column of a
 *  table. */
mst_schema_column mst_csv_column_to_schema(const mst_csv_column *column);
MST_CHECKED mst_status mst_csv_column_from_schema(const mst_schema_column *from, int place, mst_csv_column *out);

/** The cells of a column of CSV, which may be another file than the one that FORM was found in: number r is written to
 *  DST[r * STRIDE]. Fails with MST_INVALID, naming the cell, where one is no such number, or a category that FORM does
 *  not have. Integers that i64 cannot hold count as floats. */
MST_CHECKED mst_status mst_csv_column_read_i64(const mst_csv *csv, int column, const mst_csv_column *form,
                                               int64_t *dst);
MST_CHECKED mst_status mst_csv_column_read_f32(const mst_csv *csv, int column, const mst_csv_column *form, float *dst,
                                               int64_t stride);
/** The same as strings, to a tensor of as many as there are rows. */
MST_CHECKED mst_status mst_csv_column_read_texts(const mst_csv *csv, int column, mst_tensor *dst);

#endif
