/** Class numbers between 0 and the largest label that no example has. */
#ifndef MUSTER_CLI_TRAIN_MISSING_CLASSES_H
#define MUSTER_CLI_TRAIN_MISSING_CLASSES_H

#include <stdint.h>

/** Warns on standard error if some of the classes 0 to CLASSES - 1 have no example. COUNT: the examples of the first
 *  NUM; LABEL: the name of a table's column of labels, in quotes; "": it is not known. */
void missing_classes_warn(const int64_t *count, int64_t num, int64_t classes, const char *label);

#endif
