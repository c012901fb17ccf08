/** The confusion matrix: which classes are taken for which. */
#ifndef MUSTER_CLI_EVALUATE_CONFUSION_H
#define MUSTER_CLI_EVALUATE_CONFUSION_H

#include <jansson.h>

#include "muster/tensor.h"

/** Prints CONFUSION, i64 [labels, predictions], and precision, recall and f1 of each class. NAMES may be NULL, or fewer
 *  than there are classes. OUTPUT: of which of several outputs; NULL: there is one. */
void confusion_print(const mst_tensor *confusion, const char *output, const char *const *names);
/** Adds "confusion", a row for each label, and "classes": of each precision, recall, f1, examples, and its name; of
 *  several outputs objects with these by the name OUTPUT. */
void confusion_add(json_t **event, const mst_tensor *confusion, const char *output, const char *const *names);

#endif
