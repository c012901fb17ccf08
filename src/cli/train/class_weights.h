/** --class-weight of `muster train`. */
#ifndef MUSTER_CLI_TRAIN_CLASS_WEIGHTS_H
#define MUSTER_CLI_TRAIN_CLASS_WEIGHTS_H

#include "cli/train/training.h"

/** Fills class_weight and num_class_weights of T, whose objectives and names are there, as TEXT says: "balanced", "1,5"
 *  or "cat=5,2=0.5"; of several outputs "balanced", for all that have classes, "kind=balanced" or "kind=2=0.5"; NULL:
 *  all classes are alike. MST_INVALID where TEXT is not of these or an objective has no classes. */
MST_CHECKED mst_status class_weights_read(const char *text, training *t);
/** Gives them to what T's model is compiled with, behind objective_compile. */
void class_weights_compile(const training *t, mst_compile_options *out);

#endif
