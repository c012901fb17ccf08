/** Whole models in files of Keras: .keras, .h5, .weights.h5 and .json. */
#ifndef MUSTER_MODEL_FILE_KERAS_KERAS_MODEL_H
#define MUSTER_MODEL_FILE_KERAS_KERAS_MODEL_H

#include "muster/model_file.h"

/** Adds to MODEL, which is empty, the layers of the file, with weights and notes unless NETWORK_ONLY. COMPILED may be
 *  NULL. MODEL is to be destroyed after a failure. */
MST_CHECKED mst_status mst_keras_load(const char *path, bool network_only, mst_model *model,
                                      mst_model_compiled *compiled);
/** As mst_model_load_weights. */
MST_CHECKED mst_status mst_keras_load_weights(mst_model *model, const char *path);
/** As mst_model_save_with, for a PATH with one of these endings. MST_NOT_FOUND if a weight has no value yet. */
MST_CHECKED mst_status mst_keras_save(mst_model *model, const char *path, const mst_model_save_options *options);

#endif
