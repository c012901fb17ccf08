/** --class-weight of `muster train`. */
#ifndef MUSTER_CLI_TRAIN_CLASS_WEIGHTS_H
#define MUSTER_CLI_TRAIN_CLASS_WEIGHTS_H

#include "cli/train/training.h"

/** Fills class_weight and num_class_weights of T, whose objective and names are there, as TEXT says: "balanced", "1,5"
 *  or "cat=5,2=0.5"; NULL: all classes are alike. MST_INVALID where TEXT is not of these or the objective has no
 *  classes. */
MST_CHECKED mst_status class_weights_read(const char *text, training *t);

#endif
