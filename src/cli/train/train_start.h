/** What a training prints before its first step. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_START_H
#define MUSTER_CLI_TRAIN_TRAIN_START_H

#include "cli/train/training.h"

/** Prints what runs and how idle cores can be used, or writes the event "start". Call it after the model's graph is
 *  made. */
mst_status train_show_start(const training *t);

#endif
