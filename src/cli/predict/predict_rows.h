/** What a model predicts for all rows, as the user reads it. */
#ifndef MUSTER_CLI_PREDICT_PREDICT_ROWS_H
#define MUSTER_CLI_PREDICT_PREDICT_ROWS_H

#include "cli/model/objective.h"

/** Predicts all rows of DATA with MODEL, which was trained for the N objectives of LIST. OUT[i] becomes output i, f32
 *  [n, ...], owned by the caller: class probabilities, or other values that the loss compares with labels. */
MST_CHECKED mst_status predict_rows(mst_model *model, const objective *list, int n, const mst_dataset *data,
                                    int64_t batch_size, mst_tensor **out);

#endif
