/** Columns of a table that are found by the names of a model's inputs and outputs:
 *
 *      left_0,left_1,left_2,words,kind,price        inputs: `left`, with three columns, and `words`, with one; outputs,
 *                                                   which are labels: `kind`, `price`; other columns are ignored
 */
#ifndef MUSTER_DATA_SPEC_CSV_NAMES_H
#define MUSTER_DATA_SPEC_CSV_NAMES_H

#include "muster/dataset.h"

/** The rows of the table at PATH. Components are the inputs of OPTIONS, f32 [columns], then its outputs, i64 or f32, or
 *  f32 [columns] for several columns. Either all outputs have labels or none. If there is a schema, it defines the
 *  types of columns and the categories of labels. Otherwise the file LIKE does; or, if LIKE is NULL, the file at PATH.
 *  MST_NOT_FOUND, naming the columns that there are, if some are missing. *HAS_LABELS says whether there are labels. */
MST_CHECKED mst_status mst_csv_names_open(const char *path, const char *like, const mst_data_options *options,
                                          mst_dataset **out, bool *has_labels);
/** The rows of the table at PATH as the only input, if it has exactly as many columns as input_columns of OPTIONS says.
 *  Otherwise *OUT is NULL. */
MST_CHECKED mst_status mst_csv_inputs_open(const char *path, const mst_data_options *options, mst_dataset **out);

#endif
