/** The batches of a pass over data, for the steps of a trainer.
 *
 *  Devices in the host's memory copy the rows of a batch in the step. For devices that compile, a thread works one
 *  batch ahead: while a step runs, it takes the next batch and copies its rows to tensors, which are then fed. A batch
 *  is valid until the next one is requested, that is until its step has ended. The position of training counts steps,
 *  not batches that were taken (train/position.h). If taking a batch fails, the error is returned when that batch is
 *  requested. */
#ifndef MUSTER_TRAIN_STEP_BATCHES_H
#define MUSTER_TRAIN_STEP_BATCHES_H

#include "train/trainer.h"

/** A batch for a step. Either ROWS or TENSOR is NULL. */
typedef struct mst_step_batch {
    int64_t size;          /**< rows for all tasks */
    const mst_batch *rows; /**< the devices copy rows from it in the step */
    mst_tensor **tensor;   /**< [shards here][components]: the rows of each shard, as fed to the step's placeholders */
    int64_t *number;       /**< with `tensor`: number in the data of each row of this task, or -1 (mst_batch_row) */
} mst_step_batch;

/** The number in the data of row I of BATCH, which is one of this task's; -1 if it is not known. */
int64_t mst_step_batch_row(const mst_sharded_step *step, const mst_step_batch *batch, int64_t i);

typedef struct mst_step_batches mst_step_batches;

/** Begins with the next batch of ITERATOR. Takes ownership of ITERATOR, even if it fails. STEP must be built, and must
 *  outlive *OUT. */
MST_CHECKED mst_status mst_step_batches_create(const mst_sharded_step *step, mst_iterator *iterator,
                                               mst_step_batches **out);
/** The next batch, valid until the next call; NULL after the last one. */
MST_CHECKED mst_status mst_step_batches_next(mst_step_batches *batches, const mst_step_batch **out);
/** Ends the thread, which first finishes the rows that it is copying, and frees BATCHES. NULL is allowed. */
void mst_step_batches_destroy(mst_step_batches *batches);

#endif
