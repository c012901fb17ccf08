/** Which devices a training runs on, and how a batch is cut. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_DEVICES_H
#define MUSTER_CLI_TRAIN_TRAIN_DEVICES_H

#include "cli/train/training.h"

/** Devices, shards and batch size. Returns an exit status, and has printed what was wrong.
 *
 *  What is not given is the same on every machine: a batch of 200 in 4 shards. There are as many devices, of one core
 *  each, as there are cores and as divide the shards, so their number changes no weight. */
int train_choose_devices(training *t);
/** Looks a second time whether other programs keep the cores busy: some only end or begin at the first look. */
void train_look_at_others(training *t);

#endif
