/** --flip, --crop-padding, --brightness and --contrast. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_AUGMENT_H
#define MUSTER_CLI_TRAIN_TRAIN_AUGMENT_H

#include "cli/train/training.h"

/** Adds the requested random changes to the train part. Prints errors, and returns an exit status. */
int train_augment(training *t);

#endif
