/** Calls of inner models with dicts: the inputs of such a call are turned into one list. */
#ifndef MUSTER_MODEL_FILE_KERAS_DICT_CALLS_H
#define MUSTER_MODEL_FILE_KERAS_DICT_CALLS_H

#include <jansson.h>

#include "muster/status.h"

/** Replaces dicts by lists, in the order of the model's inputs, in all calls of models in CONFIG. CONFIG is the network
 *  or any part of it. If the called model was made with a dict of inputs, keys of the call's dict are matched with keys
 *  of that dict; else they are matched with names of inputs, as in Keras. Call it before mst_keras_flatten_ends, which
 *  removes the models' dicts of inputs. NAME is the name of the file, for messages. MST_UNIMPLEMENTED if the members do
 *  not match the model's inputs. */
MST_CHECKED mst_status mst_keras_order_dict_calls(const char *name, json_t *config);

#endif
