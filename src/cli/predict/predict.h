/** Predictions to a file. */
#ifndef MUSTER_CLI_PREDICT_PREDICT_H
#define MUSTER_CLI_PREDICT_PREDICT_H

#include "cli/model/objective.h"

/** What MODEL, trained for the N objectives of LIST, says of all rows of DATA: OUT[i] of output i, f32 [n, ...], owned
 *  by the caller: class probabilities, or what else the loss compares with labels. */
MST_CHECKED mst_status predict_rows(mst_model *model, const objective *list, int n, const mst_dataset *data,
                                    int64_t batch_size, mst_tensor **out);
/** Writes it to PATH: as CSV where that ends with .csv, as arrays by the names of outputs where it ends with .npz, else
 *  as NumPy's .npy. The file goes beside PATH first and is renamed when it is whole: PATH never holds a part. */
MST_CHECKED mst_status predict_to_file(mst_model *model, const objective *list, int n, const mst_dataset *data,
                                       int64_t batch_size, const char *path);
/** MST_INVALID where PATH, which OPTION gave, is no file for N outputs. */
MST_CHECKED mst_status predict_check_file(const char *option, const char *path, int n);

#endif
