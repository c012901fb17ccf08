/** Inner models: models that are layers of other models in Keras' JSON. They are replaced by their layers, so that the
 *  result is one flat functional model.
 *
 *      outer: start -> inner -> inner -> top             inner: input -> a -> b
 *      flat:  start -> inner.a -> inner.b -> inner.a -> inner.b -> top
 *
 *  The name of such a layer is prefixed with the name of its model and a dot. A layer that its model calls k times has
 *  k calls for each call of the model.
 */
#ifndef MUSTER_MODEL_FILE_KERAS_NESTED_NETWORK_H
#define MUSTER_MODEL_FILE_KERAS_NESTED_NETWORK_H

#include <stdbool.h>

#include <jansson.h>

#include "muster/status.h"

/** Whether a layer of this class is itself a model. */
bool mst_keras_is_model(const char *class_name);

/** Makes *OUT, a functional model without inner models, from OBJECT, which has class_name and config. Release *OUT with
 *  json_decref; it is NULL if OBJECT has no inner models. Each layer of *OUT also has "path", the folder in which Keras
 *  3 keeps its weights. A layer of an inner model has "group", the name of that model. NAME is the name of the file,
 *  for messages. MST_CORRUPT if calls refer to something that does not exist. MST_UNIMPLEMENTED if an inner model is
 *  too deep or too large, or is called with training=False and would compute something else here. */
MST_CHECKED mst_status mst_keras_flatten(const char *name, const json_t *object, json_t **out);

#endif
