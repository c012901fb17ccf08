/** Values in Keras' configurations that Muster does not have. */
#ifndef MUSTER_MODEL_FILE_KERAS_NOT_TAKEN_H
#define MUSTER_MODEL_FILE_KERAS_NOT_TAKEN_H

#include <jansson.h>

#include "muster/status.h"

/** MST_UNIMPLEMENTED, which shows KEY and its VALUE. */
MST_CHECKED mst_status mst_keras_not_taken(const char *key, const json_t *value);

#endif
