/** Gaps in the labels: class numbers below the largest label without any example. */
#ifndef MUSTER_CLI_TRAIN_MISSING_CLASSES_H
#define MUSTER_CLI_TRAIN_MISSING_CLASSES_H

#include <stdint.h>

/** Warns on standard error if some of the classes 0 to CLASSES - 1 have no example. COUNT[c], for c below NUM, is the
 *  number of examples of class c; classes from NUM on have none. LABEL is the name of a table's column of labels, in
 *  quotes, or "" if it is not known. */
void missing_classes_warn(const int64_t *count, int64_t num, int64_t classes, const char *label);

#endif
