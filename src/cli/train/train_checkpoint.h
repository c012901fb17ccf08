/** The files that `muster train` saves and restores. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_CHECKPOINT_H
#define MUSTER_CLI_TRAIN_TRAIN_CHECKPOINT_H

#include "cli/train/training.h"
#include "muster/checkpoint.h"

/** Checks the options. Like the other functions here that return int, prints errors and returns an exit status. */
int train_checkpoint_check(const training *t);
/** Checks that --monitor names a metric that the compiled model and its data have. */
int train_checkpoint_check_monitor(const training *t);
/** The number of shards of the training that this one resumes, as far as this task sees its folder. 0: it resumes none,
 *  or its checkpoint cannot be read, which train_checkpoint_restore reports. */
int train_checkpoint_shards(const training *t);
/** Opens the folder of checkpoints and restores the newest one, or the weights of --load if there is none. The model
 *  must be compiled. With --elastic, the folder is only read; the worker that writes to it opens it during training. */
int train_checkpoint_restore(training *t);
/** Appends the callbacks of checkpoints and early stopping to the COUNT CALLBACKS; returns the new count. */
int train_checkpoint_callbacks(training *t, mst_callback *callbacks, int count);
/** With --elastic, if this worker has become the first after the end of training: opens the folder and saves. */
MST_CHECKED mst_status train_checkpoint_last(training *t);
/** Whether the folder of checkpoints of a job with --elastic has the note of its end. Then this worker has come too
 *  late, or the job was started once more. */
bool train_checkpoint_has_ended(const training *t);
/** Writes the note of the end of training to the folder of checkpoints, after the last checkpoint. */
MST_CHECKED mst_status train_checkpoint_note_end(const training *t);
/** Writes the file of --save. */
MST_CHECKED mst_status train_checkpoint_save(const training *t);

#endif
