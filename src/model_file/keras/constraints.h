/** Constraints in the configuration of Keras' layers. */
#ifndef MUSTER_MODEL_FILE_KERAS_CONSTRAINTS_H
#define MUSTER_MODEL_FILE_KERAS_CONSTRAINTS_H

#include <jansson.h>

#include "muster/constraint.h"

/** Whether VALUE is null, missing, or a constraint of Keras that Muster has too. */
bool mst_keras_constraint_is_known(const json_t *value);
/** Reads an object with class_name and config, or only a name: a constraint that is known. If VALUE is null or missing,
 *  *OUT stays unchanged. KEY is for errors. */
MST_CHECKED mst_status mst_keras_constraint_read(const char *key, const json_t *value, mst_constraint *out);
/** The constraint as JSON, to be released; null if it constrains nothing. */
json_t *mst_keras_constraint_write(const mst_constraint *constraint);

#endif
