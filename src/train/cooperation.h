/** How the tasks of one training work together. There are three ways. A task trains alone; workers average their
 *  gradients, and may share the optimizer's slots; or parameter servers keep the variables of workers.
 *
 *  Each way is one table of functions in a file of its own. cooperation.c is for a task alone; cooperation_workers.c
 *  and cooperation_servers.c are for the other two ways. mst_fit, the trainer and the callbacks call the functions of
 *  the trainer's table, and read its rules. They never ask which way it is. To add a way, add a file with its table,
 *  and a line in mst_cooperation_of.
 *
 *  The order of the calls, from compile to the end of a fit:
 *
 *      compile     share
 *      fit         build, join, read_rate
 *      epoch       begin_epoch, steps, before_evaluation, before_epoch_end, callbacks, after_epoch_end
 *      step        takes_part, before_step, the step itself, after_step, committed, before_step_end, callbacks
 *      end         stop, finish; if a function or a step fails: recover, and if that fails too: fail */
#ifndef MUSTER_TRAIN_COOPERATION_H
#define MUSTER_TRAIN_COOPERATION_H

#include "muster/train.h"

struct mst_fit_run;
struct mst_sharded_step;
struct mst_trainer;

/** Properties of a way that the counting of steps and sums depends on. */
typedef struct mst_cooperation_rules {
    bool in_step;       /**< all workers are at the same step */
    bool decides;       /**< callbacks of this task decide when training ends */
    bool counts_others; /**< updates come from the gradients of other workers too, at any time; the sums of an epoch
                         *   come back with the values */
    bool cuts_slots;    /**< each worker has a part of the optimizer's slots: a checkpoint takes the whole ones */
} mst_cooperation_rules;

/** Every function is optional. A NULL function does nothing and succeeds; one that returns bool returns false. */
typedef struct mst_cooperation {
    /* ---- the trainer ---- */

    /** At compile: decides which shards of a batch this task computes, and joins the session to the others. Also called
     *  if a fit takes another number of shards, unless joins_before_shards is set. */
    mst_status (*share)(struct mst_trainer *trainer);
    /** `join` takes the number of shards of a fit that is resumed (train/resumed_shards.h). False: taken before. */
    bool joins_before_shards;
    /** NULL: in_step and decides are true. Called after the strategy is complete. */
    mst_cooperation_rules (*rules)(const struct mst_trainer *trainer);
    /** A step was built, for TRAINING or evaluating, and its variables have values. */
    mst_status (*build)(struct mst_trainer *trainer, bool training);
    /** Adds fetches to the training step while it is built. Errors go to the graph. */
    void (*add_fetches)(struct mst_trainer *trainer, struct mst_sharded_step *step);
    /** Adds feeds to STEP, which has *NUM_FEEDS already, before it is run. */
    void (*feed)(struct mst_trainer *trainer, struct mst_sharded_step *step, int *num_feeds);
    /** Frees what the functions above have made. */
    void (*free)(struct mst_trainer *trainer);

    /* ---- a fit begins ---- */

    /** Waits for the others, then finds the position (mst_fit_find_position). Sets `copied` if the state came from
     *  another worker, and `returns` if an earlier process of this worker was lost. NULL: only finds the position. */
    mst_status (*join)(struct mst_fit_run *run);
    /** Sets state.learning_rate to the rate with which the variables are trained. NULL: the value in the store. */
    mst_status (*read_rate)(struct mst_fit_run *run);
    /** A callback has set state.learning_rate, which is rounded to f32 here. NULL: sets the value in the store. */
    mst_status (*set_rate)(struct mst_fit_run *run);

    /* ---- epochs and steps ---- */

    /** An epoch begins, or goes on after a recovery. */
    mst_status (*begin_epoch)(struct mst_fit_run *run);
    /** Whether this task makes a step with a batch that has SIZE rows for all tasks. NULL: always. */
    bool (*takes_part)(const struct mst_fit_run *run, int64_t size);
    mst_status (*before_step)(struct mst_fit_run *run);
    /** The step is computed, with a batch of SIZE rows for all tasks. Makes the update, if it is not part of the step.
     *  Sets step, loss, sums and stop of the state from the results of all workers. */
    mst_status (*after_step)(struct mst_fit_run *run, int64_t size);
    /** The state has changed, by a step or by the beginning of an epoch. run->position.number counts the changes. */
    void (*committed)(struct mst_fit_run *run);
    /** Brings together what callbacks may save: after a step, and after an epoch. */
    mst_status (*before_step_end)(struct mst_fit_run *run);
    mst_status (*before_epoch_end)(struct mst_fit_run *run);
    mst_status (*after_epoch_end)(struct mst_fit_run *run);
    /** Before the weights are evaluated. */
    mst_status (*before_evaluation)(struct mst_trainer *trainer);

    /* ---- the end ---- */

    /** Whether a callback that ends the training here ends it on other workers too. */
    bool (*stops_together)(const struct mst_trainer *trainer);
    /** Sets state.stop and `told_to_stop` if a callback of any worker has ended this training. */
    void (*take_stop)(struct mst_fit_run *run);
    /** A callback here has ended the training, although steps are left: ends it on all workers, after the same step. */
    mst_status (*stop)(struct mst_fit_run *run);
    /** The last step here is made: waits until all have made theirs. */
    mst_status (*finish)(struct mst_fit_run *run);

    /* ---- losses of tasks ---- */

    /** Whether STATUS, an error of a step or of an exchange, only means that another worker was lost. */
    bool (*is_lost)(const struct mst_trainer *trainer, mst_status status);
    /** A step, a callback or `finish` has failed with STATUS. If others were lost: waits for them. Returns:
     *  - STATUS or another error, with which the fit ends;
     *  - MST_OK with state.stop: the fit ends without an error;
     *  - MST_OK: it goes on at run->position. If all have gone back to an earlier state, in_epoch is false: callbacks
     *    see the epoch again.
     *  NULL: STATUS, unless state.stop is set. */
    mst_status (*recover)(struct mst_fit_run *run, mst_status status);
    /** The fit ends with STATUS, the calling thread's error: tells the others. Returns STATUS. NULL: nobody to tell. */
    mst_status (*fail)(struct mst_trainer *trainer, mst_status status);

    /* ---- callbacks ---- */

    /** A callback has put back weights of an earlier epoch. */
    mst_status (*weights_set)(struct mst_trainer *trainer);
    /** Asks for the parts of the state that other workers have: `collect` can get them after the next step. */
    void (*want)(struct mst_trainer *trainer);
    /** Brings the whole state of the training to the store. *MAY_SAVE is true, and becomes false if the state cannot be
     *  had after this step. */
    mst_status (*collect)(struct mst_trainer *trainer, bool *may_save);
    /** Whether the state must be saved now, because its keepers are about to leave. */
    bool (*must_save)(const struct mst_trainer *trainer);
    /** Whether the training has ended at STATE while other tasks may be in the midst of a step. A last checkpoint then
     *  has what `collect_rest` brings to the store: the last state that was whole. */
    bool (*is_broken_off)(const struct mst_trainer *trainer, const mst_train_state *state);
    mst_status (*collect_rest)(struct mst_trainer *trainer);
    /** How stale the gradients were that were applied since the last call. *COUNTS, i64 [n], belongs to the caller;
     *  element I counts the gradients that were I updates old. Stays NULL if there is nothing to count. */
    mst_status (*staleness)(struct mst_trainer *trainer, mst_tensor **counts);
} mst_cooperation;

extern const mst_cooperation mst_cooperation_alone, mst_cooperation_workers, mst_cooperation_servers;

/** `fail` of all ways with several tasks. */
mst_status mst_cooperation_fail(struct mst_trainer *trainer, mst_status status);
/** The way of TRAINER, by its task. */
const mst_cooperation *mst_cooperation_of(const struct mst_trainer *trainer);

#endif
