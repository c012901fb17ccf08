/** Columns of a CSV file as numbers, or as strings: what the cells of a column are is found by reading all of them. */
#ifndef MUSTER_DATA_CSV_COLUMN_H
#define MUSTER_DATA_CSV_COLUMN_H

#include <stdbool.h>

#include "format/csv.h"
#include "muster/tensor.h"

typedef enum mst_csv_type {
    MST_CSV_INTEGERS,
    MST_CSV_FLOATS,
    MST_CSV_CATEGORIES,
    MST_CSV_TEXTS /**< cells as they are: only where asked for */
} mst_csv_type;

typedef struct mst_csv_column {
    int place; /**< column of the csv that it was found in */
    mst_csv_type type;
    const char **
        category; /**< the different cells, which that csv keeps, sorted by their bytes; number i stands for category[i] */
    int64_t num_categories;
} mst_csv_column;

/** What column COLUMN of CSV is; CATEGORIES: that also where its cells are numbers. Fails with MST_INVALID, naming the
 *  cell, where a number is missing, or numbers and text are mixed. Free it also after a failure. */
MST_CHECKED mst_status mst_csv_column_find(const mst_csv *csv, int column, bool categories, mst_csv_column *out);
void mst_csv_column_free(mst_csv_column *column);

/** The cells of a column of CSV, which may be another file than the one that FORM was found in: number r is written to
 *  DST[r * STRIDE]. Fails with MST_INVALID, naming the cell, where one is no such number, or a category that FORM does not
 *  have. Integers that i64 cannot hold count as floats. */
MST_CHECKED mst_status mst_csv_column_read_i64(const mst_csv *csv, int column, const mst_csv_column *form,
                                               int64_t *dst);
MST_CHECKED mst_status mst_csv_column_read_f32(const mst_csv *csv, int column, const mst_csv_column *form, float *dst,
                                               int64_t stride);
/** The same as strings, to a tensor of as many as there are rows. */
MST_CHECKED mst_status mst_csv_column_read_texts(const mst_csv *csv, int column, mst_tensor *dst);

#endif
