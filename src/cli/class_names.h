/** What the classes of a model are called. */
#ifndef MUSTER_CLI_CLASS_NAMES_H
#define MUSTER_CLI_CLASS_NAMES_H

#include "muster/dataset.h"

/** Names of classes 0, 1, ..., ended by NULL; one block, to be freed with free(). *OUT is NULL where there are none. */
typedef char **class_names;

/** Those that DATA has for its labels. */
MST_CHECKED mst_status class_names_of(const mst_dataset *data, class_names *out);
/** Those of the file at PATH, one in each line. */
MST_CHECKED mst_status class_names_read(const char *path, class_names *out);
/** A copy of N names. */
MST_CHECKED mst_status class_names_copy(const char *const *names, int64_t n, class_names *out);

int64_t class_names_count(const char *const *names);
/** The name of class I, or NULL. */
const char *class_names_at(const char *const *names, int64_t i);
/** Whether two models have the same names, or one of them has none. */
bool class_names_agree(const char *const *a, const char *const *b);

#endif
