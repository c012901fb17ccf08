/** The confusion matrix: how often examples of each class were predicted as each class. */
#ifndef MUSTER_CLI_EVALUATE_CONFUSION_H
#define MUSTER_CLI_EVALUATE_CONFUSION_H

#include <jansson.h>

#include "muster/tensor.h"

/** Prints CONFUSION, i64 [labels, predictions], and precision, recall and f1 of each class. NAMES may be NULL, or have
 *  fewer names than there are classes. OUTPUT is the name of the output if there are several, else NULL. */
void confusion_print(const mst_tensor *confusion, const char *output, const char *const *names);
/** Adds two members to EVENT. "confusion" has a row for each label. "classes" has the name, precision, recall, f1 and
 *  number of examples of each class. With several outputs, both are objects with a member OUTPUT. */
void confusion_add(json_t **event, const mst_tensor *confusion, const char *output, const char *const *names);

#endif
