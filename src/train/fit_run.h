/** One call of mst_fit: what train/fit.c and the ways to work together (train/cooperation.h) share. */
#ifndef MUSTER_TRAIN_FIT_RUN_H
#define MUSTER_TRAIN_FIT_RUN_H

#include "train/epoch_sums.h"
#include "train/noted_executables.h"
#include "train/position.h"
#include "train/trainer.h"

struct mst_task_status;

typedef struct mst_fit_run {
    mst_trainer *trainer;
    const mst_fit_options *options;
    mst_train_state state;
    mst_dataset *train, *validation; /**< data to train with, and to validate with; validation NULL: there is none */
    mst_dataset *batches;            /**< `train`, shuffled and in batches */
    int64_t batch_size;
    mst_position position; /**< where the epoch begins */
    mst_epoch_sums sums;
    bool resumes;         /**< the fit goes on where an earlier fit stopped, or where the other workers are */
    bool copied;          /**< the state came from another worker */
    bool returns;         /**< the job was already under way: an earlier process of this worker was lost */
    bool tells;           /**< callbacks of this task may not have seen the end of the last ended epoch */
    bool told_to_stop;    /**< all workers end the training at this step, because a callback of one of them did */
    int64_t first_number; /**< number of the state with which fit began */
    bool in_epoch;        /**< callbacks have seen this epoch begin, but not end */
    bool has_begun;       /**< the first epoch of the fit has begun */
    bool collected;       /**< sharded: the chief has got the slots, and no step was made since */
    bool brings_rate; /**< callbacks have set the rate before the first epoch, and parameter servers do not know it */
    double began;     /**< time in seconds, as the next two */
    double told_devices;                  /**< when the memory of devices was last noted in `status` */
    double first_step_end, last_step_end; /**< pauses that are not training time are added to first_step_end */
    double waited_for_data;               /**< seconds, without the first step */
    int64_t timed_examples;               /**< without the first step */
    double last_good_loss;
    mst_noted_executables executables;
    bool any_step;                  /**< this fit has made a step */
    struct mst_task_status *status; /**< status of the task (cluster/task_status.h); NULL: none */
    mst_callback *callbacks;
    int num_callbacks;
} mst_fit_run;

/** Finds where this fit begins: after all earlier fits; or, if it resumes the last fit, where that fit stopped. */
MST_CHECKED mst_status mst_fit_find_position(mst_fit_run *run);
/** Stores the position, at the beginning of an epoch. ENDED: the state at the end of the epoch before; NULL: no epoch
 *  has ended. */
MST_CHECKED mst_status mst_fit_store_position(mst_fit_run *run, const mst_train_state *ended);
/** Reads the learning rate into the state: from the schedule, if there is one. Otherwise it is the rate with which the
 *  variables are trained, which a callback of an earlier fit may have set. */
MST_CHECKED mst_status mst_fit_read_rate(mst_fit_run *run);
/** Sets the learning rate of the other workers. If the epoch has not begun on this worker, this is the rate before the
 *  first callbacks of the epoch: these callbacks will change it as they have changed it on the other workers. */
MST_CHECKED mst_status mst_fit_take_rate(mst_fit_run *run);
/** Calls this worker's callbacks for the end of the epoch before the position, which the other workers have already
 *  ended. The state has come from the other workers, so these callbacks do not change its learning rate. */
MST_CHECKED mst_status mst_fit_tell_ended_epoch(mst_fit_run *run);
/** How many rows of a batch of SIZE rows, for all workers, belong to this worker. */
int64_t mst_fit_rows_here(const mst_fit_run *run, int64_t size);

#endif
