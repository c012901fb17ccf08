/** The folders in which Keras 3 keeps the weights of layers. */
#ifndef MUSTER_MODEL_FILE_KERAS_LAYER_FOLDER_H
#define MUSTER_MODEL_FILE_KERAS_LAYER_FOLDER_H

#include <stddef.h>
#include <stdint.h>

enum { MST_KERAS_FOLDER = 1024 };

/** Writes "PARENT/layers/conv1d_1" to OUT, for a layer of CLASS_NAME that BEFORE others of its class come before. */
void mst_keras_layer_folder(const char *parent, const char *class_name, int64_t before, char out[MST_KERAS_FOLDER]);

#endif
