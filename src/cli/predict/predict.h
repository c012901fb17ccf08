/** Predictions to a file. */
#ifndef MUSTER_CLI_PREDICT_PREDICT_H
#define MUSTER_CLI_PREDICT_PREDICT_H

#include "cli/objective.h"

/** What MODEL, trained for OBJECTIVE, says of all rows of DATA, f32 [n, outputs], owned by the caller: class
 *  probabilities, or what else the loss compares with labels. */
MST_CHECKED mst_status predict_rows(mst_model *model, const objective *objective, const mst_dataset *data,
                                    int64_t batch_size, mst_tensor **out);
/** Writes it to PATH: as CSV where that ends with .csv, else as NumPy's .npy. The file goes beside PATH first and is
 *  renamed when it is whole: PATH never holds a part. NAMES (may be NULL): of the classes. */
MST_CHECKED mst_status predict_to_file(mst_model *model, const objective *objective, const char *const *names,
                                       const mst_dataset *data, int64_t batch_size, const char *path);

#endif
