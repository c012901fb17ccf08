/** Functions for model files that the command needs in addition to the public ones. */
#ifndef MUSTER_MODEL_FILE_MODEL_FILE_H
#define MUSTER_MODEL_FILE_MODEL_FILE_H

#include "muster/model_file.h"

/** Makes a new model from the network of the file PATH, without the notes and weights. Operators of ONNX become
 *  layers. COMPILED is as in mst_model_load. */
MST_API MST_CHECKED mst_status mst_network_load(const char *path, mst_model **out, mst_model_compiled *compiled);
/** Whether Keras wrote the file of Keras at PATH; false if Muster did, or it cannot be read. */
MST_API bool mst_keras_is_from_keras(const char *path);
/** As mst_model_load, but operators of ONNX become layers, so that the model can be trained and saved as a file of
 *  Keras. A layer stands for one operator or for a few. MST_UNIMPLEMENTED, naming the node, if an operator cannot
 *  become a layer. */
MST_API MST_CHECKED mst_status mst_layers_load(const char *path, mst_model **out, mst_model_compiled *compiled);

#endif
