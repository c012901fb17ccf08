/** --flip, --crop-padding, --brightness and --contrast. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_AUGMENT_H
#define MUSTER_CLI_TRAIN_TRAIN_AUGMENT_H

#include "cli/train/training.h"

/** The train part, with the random changes that were asked for. Returns an exit status, and has printed what was
 *  wrong. */
int train_augment(training *t);

#endif
