/** Whether the model of `muster train` can fit into memory. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_SIZE_H
#define MUSTER_CLI_TRAIN_TRAIN_SIZE_H

#include "cli/train/training.h"

/** Counts the parameters of the model, which is not compiled yet, before any of them gets memory. MST_OUT_OF_MEMORY if
 *  they, with the state of the optimizer, are more bytes than the memory limit of the devices, or than their memory, or
 *  than this machine has. */
MST_CHECKED mst_status train_size_check(training *t);

#endif
