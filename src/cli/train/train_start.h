/** What a training says before its first step. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_START_H
#define MUSTER_CLI_TRAIN_TRAIN_START_H

#include "cli/train/training.h"

/** The first line: what runs, and how idle cores can be used; or the event "start". To be called when the model's graph
 *  is there. */
mst_status train_show_start(const training *t);

#endif
