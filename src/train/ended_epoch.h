/** The row of the epoch that ended last, in the store of a task: the values that its callbacks saw.
 *
 *  The row changes together with the position (train/position.h), after the callbacks of the epoch. A worker may get
 *  the state of another one that has ended an epoch which this worker has not ended. The row then has the values that
 *  this worker's callbacks have yet to see. */
#ifndef MUSTER_TRAIN_ENDED_EPOCH_H
#define MUSTER_TRAIN_ENDED_EPOCH_H

#include "train/trainer.h"

/** Adds the row of STATE, which is at the end of EPOCH (counted over all fits), to CHANGES. The row has steps,
 *  examples, loss and metrics, the same of the validation data, and the learning rate of the epoch. */
MST_CHECKED mst_status mst_ended_epoch_add(mst_snapshot *changes, int64_t epoch, const mst_train_state *state);
/** Sets these fields of STATE from the row. MST_NOT_FOUND if the store has no row, or that of another epoch. */
MST_CHECKED mst_status mst_ended_epoch_read(mst_store *store, int64_t epoch, mst_train_state *state);

#endif
