/** Values in Keras' configurations that Muster does not support. */
#ifndef MUSTER_MODEL_FILE_KERAS_NOT_TAKEN_H
#define MUSTER_MODEL_FILE_KERAS_NOT_TAKEN_H

#include <jansson.h>

#include "muster/status.h"

/** Fails with MST_UNIMPLEMENTED. The message shows KEY and its VALUE. */
MST_CHECKED mst_status mst_keras_not_taken(const char *key, const json_t *value);

#endif
