/** Results on the test part. */
#ifndef MUSTER_CLI_EVALUATE_EVALUATE_H
#define MUSTER_CLI_EVALUATE_EVALUATE_H

#include <jansson.h>

#include "cli/model/saved_model.h"
#include "muster/train.h"

/** The results of an evaluation. */
typedef struct evaluation {
    mst_result result;
    mst_tensor *confusion[MST_MAX_TARGETS]; /**< of each output; NULL if not counted. Owned */
    const objective *objective;             /**< of each output */
    int num_objectives;
} evaluation;

/** Prints the loss, the metrics, and the confusion matrices that were counted. */
void evaluate_print(const evaluation *found);
/** Adds test_loss, test_accuracy, confusion and classes to EVENT. */
void evaluate_add(json_t **event, const evaluation *found);
/** Evaluates SAVED on its data, in batches of the size that O gives. If COUNTS is true, counts the confusion matrices.
 *  Free OUT with evaluate_free. */
MST_CHECKED mst_status evaluate_saved(const saved_options *o, const saved_model *saved, bool counts, evaluation *out);
void evaluate_free(evaluation *found);
/** Writes the event "evaluated" with the results FOUND. */
MST_CHECKED mst_status evaluate_write_event(const saved_options *o, const saved_model *saved, const evaluation *found);

#endif
