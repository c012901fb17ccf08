/** The batches of a pass over data, for the steps of a trainer.
 *
 *  Devices in the host's memory copy the rows of a batch in the step. For devices that compile a thread does it one
 *  batch ahead: while a step runs, it takes the next batch and copies its rows to tensors, which are then fed. A batch
 *  lasts until the next one is asked for, so until its step has ended. A batch that was taken ahead counts for nothing
 *  until then: the position of training is counted by the steps (train/position.h). An error of taking a batch is
 *  reported when that batch is asked for. */
#ifndef MUSTER_TRAIN_STEP_BATCHES_H
#define MUSTER_TRAIN_STEP_BATCHES_H

#include "train/trainer.h"

/** A batch for a step. Either ROWS or TENSOR is NULL. */
typedef struct mst_step_batch {
    int64_t size;          /**< rows for all tasks */
    const mst_batch *rows; /**< from which the devices copy in the step */
    mst_tensor **tensor;   /**< like the placeholders of the step: the rows of a shard, of one component */
    int64_t *number;       /**< with TENSOR, by row of this task: its number in the data, or -1 (mst_batch_row) */
} mst_step_batch;

/** The number in the data of row I of BATCH, which is one of this task's; -1 if it is not known. */
int64_t mst_step_batch_row(const mst_sharded_step *step, const mst_step_batch *batch, int64_t i);

typedef struct mst_step_batches mst_step_batches;

/** Begins with the next batch of ITERATOR, which it takes over, even if it fails. STEP, which is built, must outlive
 *  it. */
MST_CHECKED mst_status mst_step_batches_create(const mst_sharded_step *step, mst_iterator *iterator,
                                               mst_step_batches **out);
/** The next batch, valid until the next call; NULL after the last one. */
MST_CHECKED mst_status mst_step_batches_next(mst_step_batches *batches, const mst_step_batch **out);
/** Ends the thread, after the rows that it is at. NULL is allowed. */
void mst_step_batches_destroy(mst_step_batches *batches);

#endif
