/** Chooses the devices of a training, and how a batch is cut into shards. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_DEVICES_H
#define MUSTER_CLI_TRAIN_TRAIN_DEVICES_H

#include "cli/train/training.h"

/** Chooses devices, shards and batch size. Prints errors, and returns an exit status.
 *
 *  The default batch is the same on every machine: 200 examples in 4 shards. The default number of devices, of one core
 *  each, is the largest that divides the shards and is at most the number of cores. It does not change the weights.
 *  Where devices compile, there are as many shards as devices. */
int train_choose_devices(training *t);
/** The number of shards, out of SHARDS, that this worker has (mst_task_share); at least 1, if they are too few. */
int train_shards_here(const training *t, int shards);
/** Training begins, with this number of SHARDS: a worker may have got it from the chief, whose checkpoint has it. */
void train_take_shards(training *t, int shards);
/** Checks a second time whether other programs keep the cores busy. Some programs that the first check found may only
 *  have been ending or starting. */
void train_look_at_others(training *t);

#endif
