/** Lists of numbers in Keras' configurations, as tensors. */
#ifndef MUSTER_MODEL_FILE_KERAS_NUMBER_LIST_H
#define MUSTER_MODEL_FILE_KERAS_NUMBER_LIST_H

#include <jansson.h>

#include "muster/tensor.h"

/** VALUE if it is a number, or nested lists of numbers that form a tensor. If VALUE is an array object of Keras, the
 *  lists in it: {"class_name": "__numpy__", "config": {"value": [1.0, 2.0], "dtype": "float32"}}. NULL for anything
 *  else. */
const json_t *mst_keras_numbers_in(const json_t *value);
/** Makes an f32 tensor from VALUE, which is such a number or such lists. The tensor of a number has no dimensions. */
MST_CHECKED mst_status mst_keras_numbers_read(const json_t *value, mst_tensor **out);
/** TENSOR as a number, or as nested lists of numbers; NULL if memory is out, or a number is not finite. */
json_t *mst_keras_numbers_write(const mst_tensor *tensor);

#endif
