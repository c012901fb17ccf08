/** Indexing: turns Keras' ops that select elements into the configuration of a Take: {"axis": 1, "indices": [0, 2]}. */
#ifndef MUSTER_MODEL_FILE_KERAS_INDEXING_H
#define MUSTER_MODEL_FILE_KERAS_INDEXING_H

#include <jansson.h>

#include "graph/options.h"
#include "muster/layers.h"

/** The configuration for CALL of keras.ops.take, the LAYER of a file. NULL: its indices are not whole numbers of at
 *  least 0 along an axis. */
json_t *mst_keras_take_config(const json_t *layer, const json_t *call);
/** The configuration for CALL of an index such as x[:, 1:3] or x[.., 2], where x is TENSOR. NULL if it indexes more
 *  than one axis or the batch, or if the length of the axis is not known. */
json_t *mst_keras_indexing_config(const json_t *tensor, const json_t *call);
/** Sets the indices of OPTIONS from CONFIG, keeping them in MEMORY. */
MST_CHECKED mst_status mst_keras_take_read(const json_t *config, mst_option_memory *memory,
                                           mst_layer_take_options *options);
/** The indices of OPTIONS as JSON: a number, or a list. */
json_t *mst_keras_take_indices(const mst_layer_take_options *options);

#endif
