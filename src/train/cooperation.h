/** How the tasks of one training work together. There are three ways, each with a table of functions in its own file:
 *
 *      cooperation.c            a task trains alone
 *      cooperation_workers.c    workers average their gradients, and may divide the optimizer's slots among them
 *      cooperation_servers.c    parameter servers keep the variables, and workers send them gradients
 *
 *  mst_fit, the trainer and the callbacks only call the functions of the trainer's table and read its rules, without a
 *  distinction of cases. To add a way, add a file with its table, and a line in mst_cooperation_of.
 *
 *  The order of the calls, from compile to the end of a fit:
 *
 *      compile     share
 *      fit         build, join, read_rate
 *      epoch       begin_epoch, steps, before_evaluation, before_epoch_end, callbacks, after_epoch_end
 *      step        takes_part, before_step, the step itself, after_step, committed, before_step_end, callbacks
 *      end         stop, finish
 *
 *  If a function or a step fails, recover is called, and if that fails too, fail. */
#ifndef MUSTER_TRAIN_COOPERATION_H
#define MUSTER_TRAIN_COOPERATION_H

#include "muster/train.h"

struct mst_fit_run;
struct mst_sharded_step;
struct mst_trainer;

/** Properties of a way, used mainly where steps and sums are counted. */
typedef struct mst_cooperation_rules {
    bool in_step;       /**< all workers are at the same step */
    bool decides;       /**< callbacks of this task decide when training ends */
    bool counts_others; /**< parameter servers make updates, also with gradients of other workers; the sums of an epoch
                         *   come from the servers with the values */
    bool cuts_slots;    /**< each worker has a part of the optimizer's slots: a checkpoint needs the whole slots */
} mst_cooperation_rules;

/** Every function is optional. A NULL function does nothing and succeeds; one that returns bool returns false. */
typedef struct mst_cooperation {
    /* ---- the trainer ---- */

    /** At compile: decides which shards of a batch this task computes, and connects the session with the other tasks.
     *  Also called if a resumed fit changes the number of shards, unless joins_before_shards is set. */
    mst_status (*share)(struct mst_trainer *trainer);
    /** The number of shards of a resumed fit is applied in `join` (train/resumed_shards.h). False: before `join`. */
    bool joins_before_shards;
    /** NULL: in_step and decides are true. Called after the strategy is complete. */
    mst_cooperation_rules (*rules)(const struct mst_trainer *trainer);
    /** Called after a step was built, for TRAINING or evaluating, and its variables have values. */
    mst_status (*build)(struct mst_trainer *trainer, bool training);
    /** Adds fetches to the training step while it is built. Errors go to the graph. */
    void (*add_fetches)(struct mst_trainer *trainer, struct mst_sharded_step *step);
    /** Adds feeds to STEP, which has *NUM_FEEDS already, before it is run. */
    void (*feed)(struct mst_trainer *trainer, struct mst_sharded_step *step, int *num_feeds);
    /** Frees what the functions above have made. */
    void (*free)(struct mst_trainer *trainer);

    /* ---- a fit begins ---- */

    /** Waits for the other tasks, then finds the position (mst_fit_find_position). Sets `copied` if the state came from
     *  another worker, and `returns` if an earlier process of this worker was lost. NULL: only finds the position. */
    mst_status (*join)(struct mst_fit_run *run);
    /** Sets state.learning_rate to the rate with which the variables are trained. NULL: the value in the store. */
    mst_status (*read_rate)(struct mst_fit_run *run);
    /** Applies state.learning_rate, which a callback has set and which is already rounded to f32. NULL: sets the value
     *  in the store. */
    mst_status (*set_rate)(struct mst_fit_run *run);

    /* ---- epochs and steps ---- */

    /** Called when an epoch begins, or goes on after a recovery. */
    mst_status (*begin_epoch)(struct mst_fit_run *run);
    /** Whether this task makes a step with a batch that has SIZE rows for all tasks. NULL: always. */
    bool (*takes_part)(const struct mst_fit_run *run, int64_t size);
    mst_status (*before_step)(struct mst_fit_run *run);
    /** Called when the step is computed, with a batch of SIZE rows for all tasks. Makes the update, if it is not part
     *  of the step. Sets step, loss, sums and stop of the state from the results of all workers. */
    mst_status (*after_step)(struct mst_fit_run *run, int64_t size);
    /** Called when the state has changed, by a step or by the beginning of an epoch. run->position.number counts the
     *  changes. */
    void (*committed)(struct mst_fit_run *run);
    /** The first two collect the state that callbacks may save, before the callbacks of a step, and of the end of an
     *  epoch. The third one is called after the callbacks of the end of an epoch. */
    mst_status (*before_step_end)(struct mst_fit_run *run);
    mst_status (*before_epoch_end)(struct mst_fit_run *run);
    mst_status (*after_epoch_end)(struct mst_fit_run *run);
    /** Called before the weights are evaluated. */
    mst_status (*before_evaluation)(struct mst_trainer *trainer);

    /* ---- the end ---- */

    /** Whether a callback that ends the training on this worker ends it on the other workers too. */
    bool (*stops_together)(const struct mst_trainer *trainer);
    /** Sets state.stop and `told_to_stop` if a callback of any worker has ended this training. */
    void (*take_stop)(struct mst_fit_run *run);
    /** Called when a callback of this worker has ended the training although steps are left: ends the training on all
     *  workers, after the same step. */
    mst_status (*stop)(struct mst_fit_run *run);
    /** Called when this worker has made its last step: waits until all workers have made theirs. */
    mst_status (*finish)(struct mst_fit_run *run);

    /* ---- losses of tasks ---- */

    /** Whether STATUS, an error of a step or of an exchange, only means that another worker was lost. */
    bool (*is_lost)(const struct mst_trainer *trainer, mst_status status);
    /** Called when a step, a callback or `finish` has failed with STATUS. If other tasks were lost, waits for them.
     *  Returns:
     *  - STATUS or another error, with which the fit ends;
     *  - MST_OK with state.stop: the fit ends without an error;
     *  - MST_OK: the fit goes on at run->position. If all workers have gone back to an earlier state, in_epoch is
     *    false: callbacks see the epoch begin again.
     *  NULL: STATUS, unless state.stop is set. */
    mst_status (*recover)(struct mst_fit_run *run, mst_status status);
    /** Tells the other tasks that the fit ends with STATUS, the calling thread's error. Returns STATUS. NULL: there are
     *  no other tasks. */
    mst_status (*fail)(struct mst_trainer *trainer, mst_status status);

    /* ---- callbacks ---- */

    /** Called when a callback has put back weights of an earlier epoch. */
    mst_status (*weights_set)(struct mst_trainer *trainer);
    /** Asks the other workers for their parts of the state: after the next step `collect` can get them. */
    void (*want)(struct mst_trainer *trainer);
    /** Copies the whole state of the training to the store. *MAY_SAVE is true before, and becomes false if the state is
     *  not available after this step. */
    mst_status (*collect)(struct mst_trainer *trainer, bool *may_save);
    /** Whether the state must be saved now, because a task that keeps it is about to leave. */
    bool (*must_save)(const struct mst_trainer *trainer);
    /** Whether the training has ended at STATE while other tasks may be in the middle of a step. A last checkpoint is
     *  then saved from the state that `collect_rest` copies to the store: the last complete state. */
    bool (*is_broken_off)(const struct mst_trainer *trainer, const mst_train_state *state);
    mst_status (*collect_rest)(struct mst_trainer *trainer);
    /** Counts the gradients applied since the last call by their staleness. *COUNTS, i64 [n], belongs to the caller;
     *  element I counts gradients that were I updates old. *COUNTS stays NULL if there is nothing to count. */
    mst_status (*staleness)(struct mst_trainer *trainer, mst_tensor **counts);
} mst_cooperation;

extern const mst_cooperation mst_cooperation_alone, mst_cooperation_workers, mst_cooperation_servers;

/** The function `fail` for both ways with several tasks. */
mst_status mst_cooperation_fail(struct mst_trainer *trainer, mst_status status);
/** The table for TRAINER, chosen by its task. */
const mst_cooperation *mst_cooperation_of(const struct mst_trainer *trainer);

#endif
