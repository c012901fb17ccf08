/** Named arguments in the calls of a functional model's layers in Keras' files. */
#ifndef MUSTER_MODEL_FILE_KERAS_CALL_ARGUMENTS_H
#define MUSTER_MODEL_FILE_KERAS_CALL_ARGUMENTS_H

#include <jansson.h>
#include <stdbool.h>

#include "muster/status.h"

/** The names with which a call may give the sources of the layer; ended by NULL. */
extern const char *const mst_keras_source_names[];
/** The named arguments of CALL, in the form of Keras 2 or 3; NULL: it has none. */
const json_t *mst_keras_arguments_of(const json_t *call);
/** Whether LAYER, an object of the file, computes something else in training. If so, a fixed argument "training"
 *  changes what it computes. */
bool mst_keras_training_matters(const json_t *layer);
/** Whether CALL, of Keras 2, has training=False, and LAYER would compute something else in training. */
bool mst_keras_is_without_training(const json_t *layer, const json_t *call);
/** Whether LAYER is a dropout: its only effect is by its `rate`, in training. */
bool mst_keras_is_dropout(const json_t *layer);
/** Gives LAYER, a dropout whose config no other layer shares, the rate 0. */
MST_CHECKED mst_status mst_keras_drop_nothing(json_t *layer);
/** The key of a layer in files, with its options that Keras has not: {"moving_statistics": true}. Keras skips it. */
#define MST_KERAS_OWN_OPTIONS "muster_options"
/** Whether LAYER is a BatchNormalization that keeps its moving statistics in training: by training=False of its CALL in
 *  Keras 2 (NULL: it has no arguments), or by its own options. */
bool mst_keras_keeps_statistics(const json_t *layer, const json_t *call);
/** MST_UNIMPLEMENTED if CALL gives LAYER an unknown argument that changes what it computes. The argument "mask" is
 *  checked elsewhere (model_file/keras/mask_ops.h). */
MST_CHECKED mst_status mst_keras_arguments_check(const json_t *layer, const json_t *call);

#endif
