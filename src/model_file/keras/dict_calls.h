/** Calls of inner models with dicts: the inputs of such a call are turned into one list. */
#ifndef MUSTER_MODEL_FILE_KERAS_DICT_CALLS_H
#define MUSTER_MODEL_FILE_KERAS_DICT_CALLS_H

#include <jansson.h>

#include "muster/status.h"

/** Replaces dicts by lists, in the order of the model's inputs, in all calls of models in CONFIG. CONFIG is the network
 *  or any part of it. As in Keras, if the model was made with a dict of inputs, a member of the call's dict is the
 *  input of the same key. Else it is the input of that name. Call it before mst_keras_flatten_ends, which removes these
 *  dicts of inputs. NAME is the name of the file, for messages. MST_UNIMPLEMENTED if the members do not match the
 *  model's inputs. */
MST_CHECKED mst_status mst_keras_order_dict_calls(const char *name, json_t *config);

#endif
