/** Schedules of learning rates in the configuration of Keras' optimizers. */
#ifndef MUSTER_MODEL_FILE_KERAS_KERAS_SCHEDULE_H
#define MUSTER_MODEL_FILE_KERAS_KERAS_SCHEDULE_H

#include <jansson.h>

#include "muster/schedule.h"

/** Reads a schedule, an object with class_name and config. False if Muster has no such schedule. */
bool mst_keras_schedule_read(const json_t *object, mst_schedule *out);
/** The schedule as JSON, to be released; NULL if Keras has no such schedule. */
json_t *mst_keras_schedule_write(const mst_schedule *schedule);

#endif
