/** The position of training (how far it has come), kept in the store beside the weights. */
#ifndef MUSTER_TRAIN_POSITION_H
#define MUSTER_TRAIN_POSITION_H

#include "train/trainer.h"

/** The position of training: the entries "fit/..." and "random/seed" of the store. The training step counts its batch
 *  in the same run in which it makes its update, so that position and weights always belong together. */
typedef struct mst_position {
    bool begun;                      /**< a fit has begun in this store */
    int64_t first_epoch, first_step; /**< where the last fit began */
    int64_t epoch, batch;            /**< epoch and number of the next batch; epochs are counted over all fits */
    int64_t seed;                    /**< seed of shuffling and random numbers */
    int64_t step;                    /**< global_step */
    int64_t number;                  /**< in a cluster: how often the state has changed, by steps and new epochs */
    double learning_rate; /**< in a cluster: at the beginning of the epoch, before callbacks may change it; else NaN */
} mst_position;

/** Builds the variables of the position and of an epoch's sums, and their updates in STEP. Appends STEP's fetches from
 *  MST_FETCH_METRICS on. Returns a node that STEP must run beside its update. */
mst_value mst_position_build(mst_trainer *trainer, mst_sharded_step *step);
/** Reads the position. Before the first fit all members except `step` are 0. */
MST_CHECKED mst_status mst_position_read(mst_trainer *trainer, mst_position *out);
/** In a cluster: sets `number` to 1 if the state was trained without a cluster, to tell it from a state without any
 *  step, whose number is 0. */
MST_CHECKED mst_status mst_position_adopt(mst_trainer *trainer, mst_position *position);
/** Reads the sums of the epoch so far. OUT has MST_NUM_SUMS tensors, which belong to the caller. With parameter
 *  servers, which send the sums together with the variables, they are sums over all workers. If the workers are then
 *  not in step (mst_cooperation_rules), they are sums since the job began. */
MST_CHECKED mst_status mst_position_sums(mst_trainer *trainer, mst_tensor **out);
/** For parameter servers whose workers are in step: sets *LOSS to the loss of the last step. EXAMPLES is the number of
 *  examples of all workers in that step. */
MST_CHECKED mst_status mst_position_step_loss(const mst_trainer *trainer, double examples, double *loss);
/** Sets the sums of the epoch to 0. */
MST_CHECKED mst_status mst_position_clear_sums(mst_trainer *trainer);
/** Stores the position except global_step. Clears the sums of the epoch, unless parameter servers keep the sums of an
 *  epoch that goes on. In a cluster, also stores the row of the epoch that has just ended (train/ended_epoch.h). ENDED
 *  is the state at its end; NULL: no epoch has ended. All entries change at once. */
MST_CHECKED mst_status mst_position_begin_epoch(mst_trainer *trainer, const mst_position *position,
                                                const mst_train_state *ended);

#endif
