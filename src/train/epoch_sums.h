/** Loss and metrics of an epoch so far, from the sums that steps keep (train/position.h).
 *
 *  Parameter servers keep the sums of all workers. If the workers are not in step (mst_cooperation_rules), these sums
 *  are never set back to 0. Loss and metrics are then computed from their growth since this worker's epoch began, which
 *  includes all gradients of any worker that were applied meanwhile. */
#ifndef MUSTER_TRAIN_EPOCH_SUMS_H
#define MUSTER_TRAIN_EPOCH_SUMS_H

#include "train/trainer.h"

typedef struct mst_epoch_sums {
    mst_trainer *trainer;
    mst_tensor *before[MST_NUM_SUMS(MST_MAX_METRICS)]; /**< sums of the servers when the epoch began; NULL: zeros */
} mst_epoch_sums;

/** Call it when an epoch begins on this worker, or goes on. */
MST_CHECKED mst_status mst_epoch_sums_begin(mst_epoch_sums *sums);
/** Sets loss, metrics and examples of STATE from the store. */
MST_CHECKED mst_status mst_epoch_sums_read(const mst_epoch_sums *sums, mst_train_state *state);
/** As mst_epoch_sums_read, from OUTPUT: the fetched values of a step that was just made without parameter servers. */
void mst_epoch_sums_take(const mst_epoch_sums *sums, mst_tensor *const *output, mst_train_state *state);
void mst_epoch_sums_free(mst_epoch_sums *sums);

#endif
