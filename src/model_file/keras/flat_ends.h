/** The ends of Keras' functional models, which are their inputs and outputs: nested dicts and lists of them are turned
 *  into one list. */
#ifndef MUSTER_MODEL_FILE_KERAS_FLAT_ENDS_H
#define MUSTER_MODEL_FILE_KERAS_FLAT_ENDS_H

#include <jansson.h>

#include "muster/status.h"

/** The keys of a dict of inputs, and of a dict of outputs, if each member is a single input or output. They are kept as
 *  lists of strings in the config of a model, beside input_layers and output_layers. */
#define MST_KERAS_INPUT_KEYS "muster_input_keys"
#define MST_KERAS_OUTPUT_KEYS "muster_output_keys"

/** In CONFIG, the network or any part of it, each input_layers and output_layers becomes a list of references to
 *  layers, in Keras' order. A list keeps its order. A dict is ordered by its sorted keys, which are kept under the
 *  names above. */
MST_CHECKED mst_status mst_keras_flatten_ends(json_t *config);

#endif
