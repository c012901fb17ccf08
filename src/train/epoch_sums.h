/** Loss and metrics of an epoch so far, from the sums that steps keep (train/position.h).
 *
 *  With parameter servers the sums are those of all workers. If the workers are not in step, the servers add up
 *  without end, and what counts is by how much their sums have risen since this worker's epoch began: all that was
 *  applied meanwhile, whosever it is. */
#ifndef MUSTER_TRAIN_EPOCH_SUMS_H
#define MUSTER_TRAIN_EPOCH_SUMS_H

#include "train/trainer.h"

typedef struct mst_epoch_sums {
    mst_trainer *trainer;
    mst_tensor *before[MST_NUM_SUMS(MST_MAX_METRICS)]; /**< the servers', when the epoch began; NULL: zeros */
} mst_epoch_sums;

/** An epoch begins here, or goes on. */
MST_CHECKED mst_status mst_epoch_sums_begin(mst_epoch_sums *sums);
/** Sets loss, metrics and examples of STATE from the store. */
MST_CHECKED mst_status mst_epoch_sums_read(const mst_epoch_sums *sums, mst_train_state *state);
/** The same from OUTPUT, the sums of a step that has just been made without parameter servers. */
void mst_epoch_sums_take(const mst_epoch_sums *sums, mst_tensor *const *output, mst_train_state *state);
void mst_epoch_sums_free(mst_epoch_sums *sums);

#endif
