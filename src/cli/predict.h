/** Predictions to a file. */
#ifndef MUSTER_CLI_PREDICT_H
#define MUSTER_CLI_PREDICT_H

#include "muster/train.h"

/** Writes what MODEL says of all rows of DATA, f32 [n, outputs], as NumPy's .npy to PATH: class probabilities, or what
 *  else LOSS compares with labels. They go to a file
 *  beside it first, which is renamed when it is whole: PATH never holds a part. */
MST_CHECKED mst_status predict_to_file(mst_model *model, mst_loss loss, const mst_dataset *data, int64_t batch_size,
                                       const char *path);

#endif
