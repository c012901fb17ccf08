/** The folders in which Keras 3 keeps the weights of layers. */
#ifndef MUSTER_MODEL_FILE_KERAS_LAYER_FOLDER_H
#define MUSTER_MODEL_FILE_KERAS_LAYER_FOLDER_H

#include <stddef.h>
#include <stdint.h>

enum { MST_KERAS_FOLDER = 1024 };

/** Writes the folder of a layer of CLASS_NAME to OUT, such as "PARENT/layers/conv1d_1". BEFORE is the number of layers
 *  of the same class before it. */
void mst_keras_layer_folder(const char *parent, const char *class_name, int64_t before, char out[MST_KERAS_FOLDER]);

#endif
