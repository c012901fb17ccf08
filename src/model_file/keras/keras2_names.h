/** Networks of Keras 2 with the names of Keras 3. */
#ifndef MUSTER_MODEL_FILE_KERAS_KERAS2_NAMES_H
#define MUSTER_MODEL_FILE_KERAS_KERAS2_NAMES_H

#include <jansson.h>

#include "muster/status.h"

/** In CONFIG, the network or any part of it, replaces names that have another meaning in Keras 2 by those for this
 *  meaning. */
MST_CHECKED mst_status mst_keras2_rename(json_t *config);

#endif
