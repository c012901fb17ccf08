/* Workers that average their gradients: each has all variables, and makes the same update. With sharded state each has
 * a part of the optimizer's slots (train/sharded_state.h). */
#include "base/shard_rows.h"
#include "collective/collectives.h"
#include "run/session.h"
#include "store/store.h"
#include "task/task.h"
#include "train/fit_run.h"
#include "train/resumed_shards.h"
#include "train/sharded_state.h"
#include "train/worker_fingerprints.h"

/* ---- the trainer ---- */

static void take_window(mst_strategy *strategy, const mst_task_group *group) {
    const mst_shards window = mst_group_window(group, mst_group_self(group));
    strategy->first_shard = window.first;
    strategy->num_shards_here = window.count;
}

/* Chooses this worker's part of sharded state. The parts are cut once, for the workers with which the job begins. */
static mst_status take_part(mst_strategy *strategy, const mst_task *task, const mst_task_group *group) {
    if (mst_task_elastic_min(task))
        return MST_FAIL(MST_INVALID, "compile: sharded_state needs a fixed number of workers: leave out elastic_min");
    if (mst_group_size(group) < 2)
        return MST_FAIL(MST_INVALID,
                        "compile: sharded_state splits the optimizer's state among several workers, and there is only "
                        "one: leave it out");
    strategy->num_parts = mst_group_size(group);
    strategy->part = mst_group_self(group);
    return MST_OK;
}

static mst_status workers_share(mst_trainer *trainer) {
    mst_strategy *strategy = &trainer->strategy;
    mst_task *task = trainer->options.task;
    mst_task_group *group;
    if (strategy->num_shards == 0) strategy->num_shards = strategy->num_devices * mst_task_num_workers(task);
    trainer->asked_shards = strategy->num_shards;
    /* an earlier fit of these tasks may have kept another number */
    if (mst_keeps_shards(trainer) && mst_task_num_shards(task)) strategy->num_shards = mst_task_num_shards(task);
    MST_TRY(mst_task_share(task, strategy->num_shards, &group));
    take_window(strategy, group);
    if (strategy->sharded_state) MST_TRY(take_part(strategy, task, group));
    mst_session_join(trainer->session, group);
    return MST_OK;
}

static mst_cooperation_rules workers_rules(const mst_trainer *trainer) {
    return (mst_cooperation_rules){.in_step = true, .decides = true, .cuts_slots = trainer->strategy.sharded_state};
}

static mst_status workers_build(mst_trainer *trainer, bool training) {
    (void)training;
    return mst_sharded_declare(trainer);
}

/* Builds a new graph with this task's new part of the shards, if the workers that train have changed since the trainer
 * was made, or if the state of these workers comes from a training with another number of shards. */
static mst_status share_anew(mst_trainer *trainer) {
    mst_strategy *strategy = &trainer->strategy;
    mst_task *task = trainer->options.task;
    int num_shards;
    MST_TRY(mst_resumed_shards_read(trainer, &num_shards));
    if (num_shards != strategy->num_shards)
        MST_TRY(mst_resumed_shards_check(trainer, num_shards));
    else if (!mst_task_must_share_anew(task))
        return MST_OK;
    MST_TRY(mst_trainer_empty_graph(trainer));
    strategy->num_shards = num_shards;
    MST_TRY(mst_task_share_anew(task, num_shards));
    take_window(strategy, mst_task_shards(task));
    mst_trainer_choose_devices(trainer);
    return mst_trainer_build(trainer, &trainer->train, true);
}

/* ---- joining ---- */

/* Waits until all workers have joined with the same program, options and data, and have the same state. The caller must
 * then read the position again. Does nothing if they have already come together. */
static mst_status come_together(mst_fit_run *run, mst_task_joined *joined) {
    mst_trainer *trainer = run->trainer;
    mst_task *task = trainer->options.task;
    mst_position position;
    *joined = (mst_task_joined){.copied = false};
    if (mst_task_has_agreed(task)) return share_anew(trainer);
    MST_TRY(mst_position_read(trainer, &position));
    MST_TRY(mst_position_adopt(trainer, &position));
    mst_fingerprint fingerprint[MST_FINGERPRINTS_MOST];
    const int32_t num_fingerprints = mst_worker_fingerprints(trainer, run->options, run->batch_size, fingerprint);
    MST_TRY(mst_sharded_prepare(trainer, position.number));
    const mst_task_state state = {.store = trainer->model->store,
                                  .number = trainer->sharded.lost ? MST_NO_STATE : position.number,
                                  .sharded = trainer->rules.cuts_slots,
                                  .fingerprint = fingerprint,
                                  .num_fingerprints = num_fingerprints};
    MST_TRY(mst_task_join(task, &state, joined));
    if (trainer->rules.cuts_slots && !mst_task_is_chief(task)) mst_store_drop_wholes(trainer->model->store);
    trainer->sharded.lost = false;
    return share_anew(trainer);
}

/* Joins the other workers. A training that a callback has ended earlier, and that is resumed now, goes on. */
static mst_status workers_join(mst_fit_run *run) {
    mst_task_joined joined;
    if (run->options->resume) mst_task_goes_on(run->trainer->options.task);
    MST_TRY(come_together(run, &joined));
    run->copied = joined.copied;
    run->returns = joined.returns;
    return mst_fit_find_position(run);
}

/* ---- epochs and steps ---- */

/* With sharded state: keeps the state to which all workers go back if one is lost. Nothing is kept if training stops:
 * this worker then only ends the epoch, which has already ended on the other workers. */
static mst_status workers_begin_epoch(mst_fit_run *run) {
    if (run->state.stop) return MST_OK;
    if (!run->collected) MST_TRY(mst_sharded_collect(run->trainer));
    run->collected = false;
    return mst_sharded_keep(run->trainer);
}

/* MST_UNAVAILABLE if the workers must come together again. Elastic workers need this check: a worker that trains alone
 * exchanges no messages in its steps, which therefore do not fail when another worker joins. */
static mst_status workers_before_step(mst_fit_run *run) {
    const mst_task *task = run->trainer->options.task;
    return mst_task_elastic_min(task) ? mst_group_check(mst_task_shards(task)) : MST_OK;
}

static void workers_committed(mst_fit_run *run) {
    mst_task_committed(run->trainer->options.task, run->position.number);
}

static mst_status workers_before_step_end(mst_fit_run *run) {
    return mst_sharded_after_step(run->trainer);
}

/* With sharded state: the chief gets the slots, since callbacks may save the state. */
static mst_status workers_before_epoch_end(mst_fit_run *run) {
    if (run->state.stop) return MST_OK;
    MST_TRY(mst_sharded_collect(run->trainer));
    run->collected = true;
    return MST_OK;
}

/* ---- the end ---- */

/* Whether a stop on this worker ends the training on all workers. False for a process that is asked to end: it counts
 * as lost, and the others wait for its replacement. */
static bool workers_stop_together(const mst_trainer *trainer) {
    return !mst_task_must_end(trainer->options.task);
}

static bool are_stopped(const mst_fit_run *run) {
    return mst_task_is_stopped(run->trainer->options.task, run->first_number);
}

/* Sets state.stop if another worker has ended the training. This includes a worker that only begins now, because it has
 * come back or was slower than the others. */
static void workers_take_stop(mst_fit_run *run) {
    if (are_stopped(run)) run->told_to_stop = run->state.stop = true;
}

static mst_status workers_stop(mst_fit_run *run) {
    if (workers_stop_together(run->trainer)) MST_TRY(mst_task_stop(run->trainer->options.task, run->position.number));
    workers_take_stop(run);
    return MST_OK;
}

/* ---- losses ---- */

static bool workers_is_lost(const mst_trainer *trainer, mst_status status) {
    return status == MST_UNAVAILABLE && !mst_task_is_joined(trainer->options.task);
}

/* STATUS is the error of coming together after a loss. Returns the status of the fit: MST_OK, with run->state.stop, if
 * training ends here without an error. */
static mst_status after_loss(mst_fit_run *run, mst_status status) {
    /* this process must end: the fit ends as if a callback had asked for it */
    if (status == MST_CANCELLED) run->state.stop = true;
    return run->state.stop ? MST_OK : status;
}

/* Goes back to the state that the chief has kept, on all workers: a worker was lost, and its part of sharded state with
 * it. If the chief itself was lost, they go back to the state that its new process has restored. */
static mst_status go_back(mst_fit_run *run) {
    mst_task_joined joined;
    if (are_stopped(run))
        return MST_FAIL(MST_INVALID,
                        "fit: a callback has ended the training on some workers and not on others, which sharded "
                        "state does not allow: let it do the same on all");
    run->collected = false;
    MST_TRY(mst_sharded_go_back(run->trainer));
    const mst_status status = come_together(run, &joined);
    if (status) return after_loss(run, status);
    run->copied = true;
    MST_TRY(mst_fit_find_position(run));
    run->state.step = run->position.step;
    run->state.resumed = true;
    run->in_epoch = false;
    if (!run->resumes) MST_TRY(mst_fit_store_position(run, NULL));
    return mst_fit_take_rate(run);
}

/* Waits for the lost worker, and goes on from the present state of the workers. */
static mst_status workers_recover(mst_fit_run *run, mst_status status) {
    mst_task_joined joined;
    run->trainer->is_left = false;
    if (!workers_is_lost(run->trainer, status)) return run->state.stop ? MST_OK : status;
    if (run->trainer->rules.cuts_slots) return go_back(run);
    status = come_together(run, &joined);
    run->trainer->is_left = status == MST_UNAVAILABLE;
    if (status) return after_loss(run, status);
    MST_TRY(mst_position_read(run->trainer, &run->position));
    run->state.step = run->position.step;
    const int64_t epoch = run->position.epoch - run->position.first_epoch;
    if (run->in_epoch && epoch > run->state.epoch) {
        run->state.epoch = epoch - 1; /* may be a later epoch than before the loss, if the others have gone on */
        MST_TRY(mst_fit_tell_ended_epoch(run));
    }
    /* whether a callback here has ended the training within an epoch */
    const bool has_ended_within = run->state.stop && !run->in_epoch && run->position.batch > 0;
    run->state.epoch = epoch + has_ended_within;
    workers_take_stop(run);
    return mst_fit_take_rate(run);
}

/* ---- callbacks ---- */

static void workers_want(mst_trainer *trainer) {
    if (trainer->rules.cuts_slots) mst_sharded_want(trainer);
}

/* The store has the whole state if the chief has collected the workers' parts after this step. If not, asks for them
 * after the next step, and sets *MAY_SAVE to false. */
static mst_status workers_collect(mst_trainer *trainer, bool *may_save) {
    *may_save = !trainer->rules.cuts_slots || mst_store_has_wholes(trainer->model->store);
    if (!*may_save) mst_sharded_want(trainer);
    return MST_OK;
}

const mst_cooperation mst_cooperation_workers = {.share = workers_share,
                                                 .joins_before_shards = true,
                                                 .rules = workers_rules,
                                                 .build = workers_build,
                                                 .add_fetches = mst_sharded_build,
                                                 .feed = mst_sharded_feed,
                                                 .free = mst_sharded_free,
                                                 .join = workers_join,
                                                 .begin_epoch = workers_begin_epoch,
                                                 .before_step = workers_before_step,
                                                 .committed = workers_committed,
                                                 .before_step_end = workers_before_step_end,
                                                 .before_epoch_end = workers_before_epoch_end,
                                                 .stops_together = workers_stop_together,
                                                 .take_stop = workers_take_stop,
                                                 .stop = workers_stop,
                                                 .is_lost = workers_is_lost,
                                                 .recover = workers_recover,
                                                 .fail = mst_cooperation_fail,
                                                 .want = workers_want,
                                                 .collect = workers_collect};
