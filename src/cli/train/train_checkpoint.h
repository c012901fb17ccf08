/** What `muster train` saves and restores. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_CHECKPOINT_H
#define MUSTER_CLI_TRAIN_TRAIN_CHECKPOINT_H

#include "cli/train/training.h"
#include "muster/checkpoint.h"

/** Checks the options. Returns an exit status, having printed what is wrong, as the functions below do. */
int train_checkpoint_check(const training *t);
/** Checks that --monitor names something that the compiled model and its data have. */
int train_checkpoint_check_monitor(const training *t);
/** Opens the folder of checkpoints and restores its newest one; where it has none, the weights of --load. The model
 *  must be compiled. With --elastic the folder is only read: who writes to it opens it in training. */
int train_checkpoint_restore(training *t);
/** Adds the callbacks of checkpoints and of early stopping to the COUNT that are there; returns the new count. */
int train_checkpoint_callbacks(training *t, mst_callback *callbacks, int count);
/** With --elastic, where this worker has become the first when training had ended: opens the folder, and saves. */
MST_CHECKED mst_status train_checkpoint_last(training *t);
/** Whether a job with --elastic has ended already, as its folder of checkpoints says: this worker has come too late, or
 *  the job is started once more. */
bool train_checkpoint_has_ended(const training *t);
/** Notes in the folder of checkpoints, which has the last one, that training has ended. */
MST_CHECKED mst_status train_checkpoint_note_end(const training *t);
/** Writes the file of --save. */
MST_CHECKED mst_status train_checkpoint_save(const training *t);

#endif
