/** Results on the test part. */
#ifndef MUSTER_CLI_EVALUATE_EVALUATE_H
#define MUSTER_CLI_EVALUATE_EVALUATE_H

#include <jansson.h>

#include "muster/train.h"

/** Prints loss and metrics, and the confusion matrix where it is given. NAMES (may be NULL): of the classes. */
void evaluate_print(const mst_result *result, const mst_tensor *confusion, const char *const *names);
/** Adds test_loss, test_accuracy, confusion and classes to EVENT. */
void evaluate_add(json_t **event, const mst_result *result, const mst_tensor *confusion, const char *const *names);

#endif
