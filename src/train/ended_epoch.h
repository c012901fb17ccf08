/** The row of the epoch that ended last: the values that callbacks saw at its end, kept in the store of a task.
 *
 *  The row changes together with the position (train/position.h), after the callbacks of the epoch. If a worker gets
 *  the state of another worker that is already in the next epoch, its own callbacks have not seen the end of the last
 *  one: they are then called with the values of the row. */
#ifndef MUSTER_TRAIN_ENDED_EPOCH_H
#define MUSTER_TRAIN_ENDED_EPOCH_H

#include "train/trainer.h"

/** Adds the row of STATE, which is at the end of EPOCH (counted over all fits), to CHANGES. The row has steps,
 *  examples, loss and metrics, loss and metrics of the validation data, and the learning rate of the epoch. */
MST_CHECKED mst_status mst_ended_epoch_add(mst_snapshot *changes, int64_t epoch, const mst_train_state *state);
/** Sets these fields of STATE from the row. MST_NOT_FOUND if the store has no row, or the row of another epoch. */
MST_CHECKED mst_status mst_ended_epoch_read(mst_store *store, int64_t epoch, mst_train_state *state);

#endif
