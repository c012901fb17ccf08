/** Networks of Keras 2: replaces names that have another meaning in Keras 3. */
#ifndef MUSTER_MODEL_FILE_KERAS_KERAS2_NAMES_H
#define MUSTER_MODEL_FILE_KERAS_KERAS2_NAMES_H

#include <jansson.h>

#include "muster/status.h"

/** Replaces names whose meaning differs between Keras 2 and Keras 3 by Muster's names for the meaning in Keras 2.
 *  CONFIG is the network or any part of it. */
MST_CHECKED mst_status mst_keras2_rename(json_t *config);

#endif
