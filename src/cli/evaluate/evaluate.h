/** Results on the test part. */
#ifndef MUSTER_CLI_EVALUATE_EVALUATE_H
#define MUSTER_CLI_EVALUATE_EVALUATE_H

#include <jansson.h>

#include "cli/saved_model.h"
#include "muster/train.h"

/** Prints loss and metrics, and the confusion matrix where it is given. NAMES (may be NULL): of the classes. */
void evaluate_print(const mst_result *result, const mst_tensor *confusion, const char *const *names);
/** Adds test_loss, test_accuracy, confusion and classes to EVENT. */
void evaluate_add(json_t **event, const mst_result *result, const mst_tensor *confusion, const char *const *names);
/** Evaluates SAVED on its data in batches as O says. CONFUSION may be NULL; else it gets the confusion matrix, owned by
 *  the caller. */
MST_CHECKED mst_status evaluate_saved(const saved_options *o, const saved_model *saved, mst_result *result,
                                      mst_tensor **confusion);
/** Writes the event "evaluated" of that result. CONFUSION may be NULL. */
MST_CHECKED mst_status evaluate_write_event(const saved_options *o, const saved_model *saved, const mst_result *result,
                                            const mst_tensor *confusion);

#endif
