/** Validation parts of data: `val` beside `train`. */
#ifndef MUSTER_DATA_SPEC_VALIDATION_PART_H
#define MUSTER_DATA_SPEC_VALIDATION_PART_H

#include <stdbool.h>
#include <stddef.h>

#include "muster/status.h"

/** Names of a validation part, ended by NULL: the first that is there is taken. */
extern const char *const mst_validation_names[];
/** Writes "FOLDER/val", or with another of these names, to PATH, which has SIZE bytes, if this folder and FOLDER/train
 *  are there. Returns whether they are. */
bool mst_validation_folder(const char *folder, char *path, size_t size);
/** The spec of the validation part of SPEC, to be freed with free(). *OUT is NULL if there is none. */
MST_API MST_CHECKED mst_status mst_validation_spec(const char *spec, char **out);

#endif
