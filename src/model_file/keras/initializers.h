/** Initializers, activations, penalties and dtypes in the configuration of Keras' layers. */
#ifndef MUSTER_MODEL_FILE_KERAS_INITIALIZERS_H
#define MUSTER_MODEL_FILE_KERAS_INITIALIZERS_H

#include <jansson.h>

#include "muster/layer.h"

/** Reads an object with class_name and config, or only a name. If VALUE is null, *OUT stays unchanged. */
MST_CHECKED mst_status mst_keras_initializer_read(const json_t *value, mst_initializer *out);
/** The initializer as JSON, to be released. NULL if it is the default of the layer, or if Keras does not have it. */
json_t *mst_keras_initializer_write(const mst_initializer *initializer);

MST_CHECKED mst_status mst_keras_activation_read(const json_t *value, int *out);
/** The name of ACTIVATION in Keras 3; NULL if Keras 3 does not have it. gelu_tanh has no name in Keras: the result is
 *  "gelu_tanh", the name of a function of the module "muster". */
const char *mst_keras_activation_name(int activation);

/** Reads L1, L2, L1L2, or null. Keras' L2(x) is l2 = 2 x here. */
MST_CHECKED mst_status mst_keras_regularizer_read(const json_t *value, float *l1, float *l2);
json_t *mst_keras_regularizer_write(float l1, float l2);

/** The dtype NAME, such as "float32"; MST_NO_DTYPE if inputs cannot have it here. */
mst_dtype mst_keras_dtype_named(const char *name);
/** Keras' name of DTYPE; "float32" if Keras does not have the dtype. */
const char *mst_keras_dtype_name(mst_dtype dtype);

#endif
