/** The columns of a table by the names of a model's inputs and outputs:
 *
 *      left_0,left_1,left_2,words,kind,price        inputs `left`, of three numbers, and `words`, of one; labels of the
 *                                                   outputs `kind` and `price`; other columns are left out
 */
#ifndef MUSTER_DATA_SPEC_CSV_NAMES_H
#define MUSTER_DATA_SPEC_CSV_NAMES_H

#include "muster/dataset.h"

/** The rows of PATH, a component for each input of OPTIONS, f32 [columns], and for each output: i64 or f32, f32
 *  [columns] if it has several columns; all labels or none. What columns are, and which categories labels have, is
 *  that of LIKE, another file, or NULL, and before that of the schema. MST_NOT_FOUND, naming the columns that there
 *  are, if some are missing. *HAS_LABELS says whether there are labels. */
MST_CHECKED mst_status mst_csv_names_open(const char *path, const char *like, const mst_data_options *options,
                                          mst_dataset **out, bool *has_labels);
/** The rows of PATH if it has as many columns as OPTIONS has input_columns: these are the only input. Else *OUT is
 *  NULL. */
MST_CHECKED mst_status mst_csv_inputs_open(const char *path, const mst_data_options *options, mst_dataset **out);

#endif
