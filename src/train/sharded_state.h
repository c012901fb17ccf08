/** Training in which the workers divide the optimizer's slots among them (sharded_state of mst_strategy): each keeps a
 *  part of each slot.
 *
 *  The chief collects all slots at the beginning and end of each epoch; and after a step, if a worker has asked for
 *  that before the step (mst_sharded_want). The request is an input of the step, which adds up the requests of all
 *  workers, so that all workers take part. The chief then holds the whole slots (mst_store_hold_whole) until the next
 *  step.
 *
 *  The slots of a lost worker are lost. All workers then go back to the last state that the chief has kept: each time
 *  it collects the slots, it writes the state to an unnamed temporary file. A chief that was started again begins with
 *  its checkpoint, or anew. */
#ifndef MUSTER_TRAIN_SHARDED_STATE_H
#define MUSTER_TRAIN_SHARDED_STATE_H

#include "train/trainer.h"

bool mst_is_sharded(const mst_trainer *trainer);
void mst_sharded_free(mst_trainer *trainer);
/** Adds to the training step a value by which workers ask for the slots. */
void mst_sharded_build(mst_trainer *trainer, mst_sharded_step *step);
/** Tells the store which of its entries are parts of slots. */
MST_CHECKED mst_status mst_sharded_declare(mst_trainer *trainer);
/** Adds the feed of a step, and releases whole slots that were held. */
void mst_sharded_feed(mst_trainer *trainer, mst_sharded_step *step, int *num_feeds);

/** Asks that the chief get the slots after the next step. */
void mst_sharded_want(mst_trainer *trainer);
/** Call it after a step: if a worker has asked for them, the chief collects the slots, and keeps the state. */
MST_CHECKED mst_status mst_sharded_after_step(mst_trainer *trainer);
/** The chief collects the slots of all workers. All workers must call it together. */
MST_CHECKED mst_status mst_sharded_collect(mst_trainer *trainer);
/** The chief keeps the state, whose slots it must have. On other workers it does nothing. */
MST_CHECKED mst_status mst_sharded_keep(mst_trainer *trainer);

/** Call it before workers come together: prepares the slots of a state without any step. */
MST_CHECKED mst_status mst_sharded_prepare(mst_trainer *trainer, int64_t number);
/** After a worker was lost: the chief restores the state that it has kept. The other workers discard their state, and
 *  get the chief's. */
MST_CHECKED mst_status mst_sharded_go_back(mst_trainer *trainer);

#endif
