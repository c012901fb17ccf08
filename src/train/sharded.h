/** Training whose workers share the optimizer's slots out (sharded_state of mst_strategy): each has a part of them.
 *
 *  What needs all of them gets them from all workers, who must therefore do it together: at the beginning and end of
 *  each epoch, and after a step before which one of them has asked for it (mst_sharded_want), which the step tells the
 *  others. The chief then holds the wholes (mst_store_hold_whole) until the next step.
 *
 *  What a worker has that is lost is lost: all go back to the state that the chief has kept, in a file without a name,
 *  whenever it got the slots; a chief that was started again begins with its checkpoint, or anew. */
#ifndef MUSTER_TRAIN_SHARDED_H
#define MUSTER_TRAIN_SHARDED_H

#include "train/trainer.h"

bool mst_is_sharded(const mst_trainer *trainer);
void mst_sharded_free(mst_trainer *trainer);
/** Adds to the step, which trains, that workers ask for the slots. */
void mst_sharded_build(mst_trainer *trainer, mst_sharded_step *step);
/** Tells the store which entries are parts. */
MST_CHECKED mst_status mst_sharded_declare(mst_trainer *trainer);
/** Feeds a step; what was held of the slots is let go. */
void mst_sharded_feed(mst_trainer *trainer, mst_sharded_step *step, int *num_feeds);

/** The chief shall get the slots after the next step. */
void mst_sharded_want(mst_trainer *trainer);
/** After a step: where a worker has asked for it, the chief gets the slots, and keeps the state. */
MST_CHECKED mst_status mst_sharded_after_step(mst_trainer *trainer);
/** The chief gets the slots of all workers, all of which call it. */
MST_CHECKED mst_status mst_sharded_collect(mst_trainer *trainer);
/** The chief keeps the state, whose slots it has. Others do nothing. */
MST_CHECKED mst_status mst_sharded_keep(mst_trainer *trainer);

/** Before workers come together: the slots that a state without any step has. */
MST_CHECKED mst_status mst_sharded_prepare(mst_trainer *trainer, int64_t number);
/** After a worker was lost: the chief goes back to the state that it has kept; others have none that counts. */
MST_CHECKED mst_status mst_sharded_go_back(mst_trainer *trainer);

#endif
