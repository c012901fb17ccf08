/** What `muster train` saves and restores. */
#ifndef MUSTER_CLI_TRAIN_CHECKPOINT_H
#define MUSTER_CLI_TRAIN_CHECKPOINT_H

#include "cli/training.h"
#include "muster/checkpoint.h"

/** Checks the options. An exit status, as those below. */
int train_checkpoint_check(const training *t);
/** Opens the folder of checkpoints and goes on from its newest one; else takes the weights of --load. To be called when
 *  the model is compiled. */
int train_checkpoint_restore(training *t);
/** Adds the callbacks of checkpoints and of early stopping; how many there are then. */
int train_checkpoint_callbacks(training *t, mst_callback *callbacks, int count);
/** Writes the file of --save. */
MST_CHECKED mst_status train_checkpoint_save(const training *t);
/** Prints what was restored, and what is missing or left over: a line, or the event "restored". */
MST_CHECKED mst_status restored_show(const mst_restored *restored, bool json, bool quiet);

#endif
