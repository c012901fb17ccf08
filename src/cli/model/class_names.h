/** Lists of the names of a model's classes. */
#ifndef MUSTER_CLI_MODEL_CLASS_NAMES_H
#define MUSTER_CLI_MODEL_CLASS_NAMES_H

#include "muster/dataset.h"

/** Names of the classes 0, 1, ..., ended by NULL; one block, to be freed with free(). NULL: there are none. */
typedef char **class_names;

/** The names that DATA has for its labels, component COMPONENT. */
MST_CHECKED mst_status class_names_of(const mst_dataset *data, int component, class_names *out);
/** The names in the file at PATH, one in each line. */
MST_CHECKED mst_status class_names_read(const char *path, class_names *out);
/** A copy of N names. */
MST_CHECKED mst_status class_names_copy(const char *const *names, int64_t n, class_names *out);

int64_t class_names_count(const char *const *names);
/** The name of class I, or NULL. */
const char *class_names_at(const char *const *names, int64_t i);
/** Size in bytes of the text of class_name_shown. */
enum { CLASS_NAME_TEXT = 128 };
/** Writes NAME to TEXT as it is printed, without control characters; returns TEXT. */
const char *class_name_shown(const char *name, char text[CLASS_NAME_TEXT]);
/** The width in columns of the widest name as it is printed; 0 if there are none. */
int class_names_width(const char *const *names);
/** Whether two models have the same names, or one of them has none. */
bool class_names_agree(const char *const *a, const char *const *b);

#endif
