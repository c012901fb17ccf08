/** Initializers, activations, penalties and dtypes in the configuration of Keras' layers. */
#ifndef MUSTER_MODEL_FILE_KERAS_INITIALIZERS_H
#define MUSTER_MODEL_FILE_KERAS_INITIALIZERS_H

#include <jansson.h>

#include "muster/layer.h"

/** An object with class_name and config, or a name alone; null leaves *OUT as it is. */
MST_CHECKED mst_status mst_keras_initializer_read(const json_t *value, mst_initializer *out);
/** NULL if Keras' default is meant, or Keras has no such initializer; to be released. */
json_t *mst_keras_initializer_write(const mst_initializer *initializer);

MST_CHECKED mst_status mst_keras_activation_read(const json_t *value, int *out);
/** The name of ACTIVATION in Keras 3; NULL if Keras 3 does not have it. */
const char *mst_keras_activation_name(int activation);

/** L1, L2, L1L2, or null. Keras' L2(x) is l2 = 2 x here. */
MST_CHECKED mst_status mst_keras_regularizer_read(const json_t *value, float *l1, float *l2);
json_t *mst_keras_regularizer_write(float l1, float l2);

/** "float32" and so on: MST_NO_DTYPE if inputs here cannot have the dtype NAME. */
mst_dtype mst_keras_dtype_named(const char *name);
/** "float32" also for a dtype that Keras does not have. */
const char *mst_keras_dtype_name(mst_dtype dtype);

#endif
