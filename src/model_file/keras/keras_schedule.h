/** Learning rates that are schedules, in the configuration of Keras' optimizers. */
#ifndef MUSTER_MODEL_FILE_KERAS_KERAS_SCHEDULE_H
#define MUSTER_MODEL_FILE_KERAS_KERAS_SCHEDULE_H

#include <jansson.h>

#include "muster/schedule.h"

/** An object with class_name and config; false if Muster has no such schedule. */
bool mst_keras_schedule_read(const json_t *object, mst_schedule *out);
/** To be released; NULL if Keras has no such schedule. */
json_t *mst_keras_schedule_write(const mst_schedule *schedule);

#endif
