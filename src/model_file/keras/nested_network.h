/** Models that are layers of other models, in Keras' JSON: their layers take their place, so that what is read is one
 *  flat functional model.
 *
 *      outer: start -> inner -> inner -> top             inner: input -> a -> b
 *      flat:  start -> inner.a -> inner.b -> inner.a -> inner.b -> top
 *
 *  A layer has the name of its model and a point before its own. A layer that its model calls k times has k calls for
 *  each call of the model.
 */
#ifndef MUSTER_MODEL_FILE_KERAS_NESTED_NETWORK_H
#define MUSTER_MODEL_FILE_KERAS_NESTED_NETWORK_H

#include <stdbool.h>

#include <jansson.h>

#include "muster/status.h"

/** Whether a layer of this class is a model, which has layers. */
bool mst_keras_is_model(const char *class_name);

/** *OUT: OBJECT, with class_name and config, as a functional model without models in it, to be dropped with
 *  json_decref; NULL if OBJECT has none. Each layer then also has "path", where Keras 3 keeps its weights, and,
 *  if it is of an inner model, "group", the name of that. NAME is the file's, for messages. MST_CORRUPT if
 *  calls refer to what is not there, MST_UNIMPLEMENTED if an inner model is too deep or too large, or called with
 *  training=False while it would be another function than here. */
MST_CHECKED mst_status mst_keras_flatten(const char *name, const json_t *object, json_t **out);

#endif
