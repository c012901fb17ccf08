/** What a model is trained for: a loss, with the labels, the outputs and the metric that fit it. */
#ifndef MUSTER_CLI_OBJECTIVE_H
#define MUSTER_CLI_OBJECTIVE_H

#include "muster/train.h"

typedef struct objective {
    mst_loss loss;
    int64_t outputs; /**< of the last layer */
    mst_metric metric;
} objective;

/** Names of losses, for an option, and which labels they take; NULL past the last. */
const char *objective_loss(int i);
const char *objective_labels(int i);
/** Keras' short names of losses, each followed by the name, ended by NULL. */
extern const char *const objective_short_losses[];

/** The objective of LOSS for the labels of DATA, whose first rows are checked. CLASSES: outputs wanted; where FREE, one
 *  output for each number of a label in place of these. MST_INVALID where loss, labels and outputs do not fit. */
MST_CHECKED mst_status objective_choose(mst_loss loss, mst_dataset *data, int64_t classes, bool free, objective *out);
/** The same without data, for OUTPUTS outputs. */
objective objective_of(mst_loss loss, int64_t outputs);
/** Whether an example is of one class: a confusion matrix can be counted, and classes can have names. */
bool objective_has_classes(const objective *objective);
/** MST_INVALID where COUNT names, those of the file at PATH, are not as many as there are classes. */
MST_CHECKED mst_status objective_check_names(const objective *objective, const char *path, int64_t count);
/** The class that row ROW of OUTPUTS, [n, outputs] and finished, is of, and its probability. */
int64_t objective_class(const objective *objective, const mst_tensor *outputs, int64_t row, double *probability);
/** The error that COMMAND cannot count a confusion matrix for OBJECTIVE: EXIT_USAGE. */
int objective_fail_confusion(const char *command, const objective *objective);
/** Adds what must come behind the last dense layer for LOSS: softmax where it compares probabilities, and so on. */
void objective_add_layers(mst_loss loss, mst_model *model);
/** Makes of the model's OUTPUTS what a user wants to see: probabilities of the cross entropies' logits. */
void objective_finish(mst_loss loss, mst_tensor *outputs);

#endif
