/** The number of shards of a fit that is resumed. It is kept because another number would add up sums in another order,
 *  and the last digits of weights would differ. It is an entry of the store (MST_STATE_SHARDS), so checkpoints have it,
 *  and tasks get it with the state of another task.
 *
 *      choose    before the tasks join: sets the entry of this task's store
 *      join      a task that gets the state of another one also gets its entry
 *      take      each task cuts batches into as many shards as its entry says
 *
 *  A task that trains alone, and tasks of parameter servers, also take the number right after they have chosen it.
 *  Workers that average gradients take it only after they have joined: if the number cannot be taken, all of them get
 *  the error. */
#ifndef MUSTER_TRAIN_RESUMED_SHARDS_H
#define MUSTER_TRAIN_RESUMED_SHARDS_H

#include "train/fit_run.h"

/** Whether a fit of TRAINER that is resumed goes on with the number of shards with which it was begun. */
bool mst_keeps_shards(const mst_trainer *trainer);
/** Chooses the number of shards of a fit that begins, and sets it in the store. Warns on `progress` if the fit is
 *  resumed with another number than it was begun with, because the program says so. */
MST_CHECKED mst_status mst_resumed_shards_choose(mst_fit_run *run);
/** The number in the store; that of the strategy if the store has none. MST_CORRUPT if it is no number of shards. */
MST_CHECKED mst_status mst_resumed_shards_read(const mst_trainer *trainer, int *out);
/** Checks that this task can change to NUM_SHARDS. MST_INVALID if the program has set another number, if there are more
 *  workers than shards, or if a task alone cannot divide the shards evenly among its devices. */
MST_CHECKED mst_status mst_resumed_shards_check(const mst_trainer *trainer, int num_shards);
/** Uses the number of shards in the store: if it differs from the present one, the training step is built again. */
MST_CHECKED mst_status mst_resumed_shards_take(mst_trainer *trainer);

#endif
