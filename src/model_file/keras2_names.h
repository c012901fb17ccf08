/** Networks of Keras 2 in the words of Keras 3. */
#ifndef MUSTER_MODEL_FILE_KERAS2_NAMES_H
#define MUSTER_MODEL_FILE_KERAS2_NAMES_H

#include <jansson.h>

#include "muster/status.h"

/** Puts the words of Keras 3 in CONFIG, the network or any part of it, in place of those that mean something else in
 *  Keras 2. */
MST_CHECKED mst_status mst_keras2_rename(json_t *config);

#endif
