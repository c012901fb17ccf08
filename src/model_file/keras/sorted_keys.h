/** The keys of an object in the order in which Keras processes the members of a dict. */
#ifndef MUSTER_MODEL_FILE_KERAS_SORTED_KEYS_H
#define MUSTER_MODEL_FILE_KERAS_SORTED_KEYS_H

#include <jansson.h>

/** The sorted keys of OBJECT, ended by NULL. The strings belong to OBJECT. NULL if memory is out. */
const char **mst_sorted_keys(const json_t *object);
void mst_sorted_keys_free(const char **keys);

#endif
