/** Writes predictions to a file. */
#ifndef MUSTER_CLI_PREDICT_PREDICT_H
#define MUSTER_CLI_PREDICT_PREDICT_H

#include "cli/model/objective.h"

/** Writes the predictions to PATH. The end of PATH decides the format: .csv: CSV; .npz: arrays with the names of the
 *  outputs; else NumPy's .npy. They are first written to a temporary file beside PATH, which is renamed when complete.
 *  So PATH is never incomplete. */
MST_CHECKED mst_status predict_to_file(mst_model *model, const objective *list, int n, const mst_dataset *data,
                                       int64_t batch_size, const char *path);
/** MST_INVALID if the format of PATH, the value of OPTION, cannot hold N outputs. */
MST_CHECKED mst_status predict_check_file(const char *option, const char *path, int n);

#endif
