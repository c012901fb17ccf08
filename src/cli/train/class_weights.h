/** --class-weight of `muster train`. */
#ifndef MUSTER_CLI_TRAIN_CLASS_WEIGHTS_H
#define MUSTER_CLI_TRAIN_CLASS_WEIGHTS_H

#include "cli/train/training.h"

/** Fills class_weight and num_class_weights of T from TEXT; the objectives and names of T must be set. For one output,
 *  TEXT is "balanced", "1,5" or "cat=5,2=0.5". For several outputs, it is "balanced", for all that have classes, or
 *  "kind=balanced" or "kind=2=0.5" for the output "kind". NULL: all classes have the same weight. MST_INVALID if TEXT
 *  has another form or an objective has no classes. */
MST_CHECKED mst_status class_weights_read(const char *text, training *t);
/** Adds the weights to OUT, the options with which T's model is compiled. Call it after objective_compile. */
void class_weights_compile(const training *t, mst_compile_options *out);

#endif
