/** Whole models in files of Keras: .keras, .h5, .weights.h5 and .json. */
#ifndef MUSTER_MODEL_FILE_KERAS_KERAS_MODEL_H
#define MUSTER_MODEL_FILE_KERAS_KERAS_MODEL_H

#include "muster/model_file.h"

/** Adds the layers of the file to MODEL, which is empty, and unless NETWORK_ONLY their weights and the notes. COMPILED
 *  may be NULL. Destroy MODEL after a failure. */
MST_CHECKED mst_status mst_keras_load(const char *path, bool network_only, mst_model *model,
                                      mst_model_compiled *compiled);
/** The same as mst_model_load_weights, for files of Keras. */
MST_CHECKED mst_status mst_keras_load_weights(mst_model *model, const char *path);
/** The same as mst_model_save_with, for a PATH with such an ending. MST_NOT_FOUND if a weight has no value yet. */
MST_CHECKED mst_status mst_keras_save(mst_model *model, const char *path, const mst_model_save_options *options);

#endif
