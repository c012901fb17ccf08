#include "train/resumed_shards.h"

#include <inttypes.h>
#include <stdio.h>

#include "store/store.h"
#include "strategy/strategy.h"
#include "task/task.h"

static mst_resumed_shards rule_of(const mst_trainer *trainer) {
    const mst_strategy *given = &trainer->options.strategy;
    if (given->resumed_shards) return given->resumed_shards;
    return given->num_shards || given->num_shards_here ? MST_SHARDS_NEW : MST_SHARDS_KEPT;
}

bool mst_keeps_shards(const mst_trainer *trainer) {
    return rule_of(trainer) == MST_SHARDS_KEPT;
}

/* ---- in the store ---- */

/* Reads the number in the store; 0: there is none. */
static mst_status read_stored(const mst_trainer *trainer, int *out) {
    int64_t stored = 0;
    const mst_status status =
        mst_store_read_to(trainer->model->store, NULL, MST_STATE_SHARDS, &(mst_spec){MST_I64, MST_SCALAR}, &stored);
    *out = 0;
    if (status == MST_NOT_FOUND) return MST_OK;
    MST_TRY(status);
    if (stored < 1 || stored > MST_SHARDS_MOST)
        return MST_FAIL(MST_CORRUPT, "'%s' is %" PRId64 ", which is no number of shards: the state is damaged",
                        MST_STATE_SHARDS, stored);
    *out = (int)stored;
    return MST_OK;
}

mst_status mst_resumed_shards_read(const mst_trainer *trainer, int *out) {
    MST_TRY(read_stored(trainer, out));
    if (!*out) *out = trainer->strategy.num_shards;
    return MST_OK;
}

static mst_status store_number(const mst_trainer *trainer, int num_shards) {
    const int64_t number = num_shards;
    mst_tensor *value;
    int stored;
    MST_TRY(read_stored(trainer, &stored));
    if (stored == num_shards) return MST_OK;
    MST_TRY(mst_tensor_copy(MST_I64, MST_SCALAR, &number, &value));
    const mst_status status = mst_store_set(trainer->model->store, NULL, MST_STATE_SHARDS, MST_STATE_CURSOR, value);
    mst_tensor_release(value);
    return status;
}

/* ---- choosing ---- */

static void warn(const mst_fit_run *run, int before, int now) {
    if (run->options->progress)
        fprintf(run->options->progress,
                "warning: the training that is resumed had %d shards, now %d: sums are added in another order, so "
                "weights differ in their last digits\n",
                before, now);
}

/* Says that the fit keeps its number of shards, where the strategy would have another one. */
static void tell_kept(const mst_fit_run *run, int kept) {
    const int devices = run->trainer->strategy.num_devices;
    if (!run->options->progress || run->options->progress_kind == MST_PROGRESS_NONE) return;
    fprintf(run->options->progress, "the training that is resumed has %d %s on %d device%s\n", kept,
            kept == 1 ? "shard: it is kept, and runs" : "shards: they are kept, and run", devices,
            devices == 1 ? "" : "s");
}

mst_status mst_resumed_shards_choose(mst_fit_run *run) {
    mst_trainer *trainer = run->trainer;
    mst_position position;
    const int now = trainer->strategy.num_shards;
    int before = 0;
    MST_TRY(mst_position_read(trainer, &position));
    if (run->options->resume && position.begun) MST_TRY(read_stored(trainer, &before));
    const bool differs = before && before != now, is_new = rule_of(trainer) == MST_SHARDS_NEW;
    if (differs && is_new) warn(run, before, now);
    MST_TRY(store_number(trainer, differs && !is_new ? before : now));
    if (trainer->cooperation->joins_before_shards) return MST_OK;
    MST_TRY(mst_resumed_shards_take(trainer));
    if (differs && !is_new && !trainer->options.task) tell_kept(run, before);
    return MST_OK;
}

/* ---- taking ---- */

mst_status mst_resumed_shards_check(const mst_trainer *trainer, int num_shards) {
    const mst_task *task = trainer->options.task;
    const int now = trainer->strategy.num_shards, workers = task ? mst_task_num_workers(task) : 1;
    const int devices = trainer->strategy.num_devices;
    if (rule_of(trainer) == MST_SHARDS_SAME)
        return MST_FAIL(MST_INVALID,
                        "fit: the training that is resumed has %d shards, and the strategy %d: take the same number",
                        num_shards, now);
    if (rule_of(trainer) == MST_SHARDS_NEW)
        return MST_FAIL(MST_INVALID,
                        "fit: the workers do not agree on the number of shards: the state of the others is of a "
                        "training with %d, and the strategy here has %d: start all tasks with the same command",
                        num_shards, now);
    if (num_shards < workers)
        return MST_FAIL(MST_INVALID,
                        "fit: the training that is resumed has %d shard%s, too few for %d workers: take fewer workers, "
                        "or give another number of shards (.num_shards of the strategy, --shards N) to go on with "
                        "other sums",
                        num_shards, num_shards == 1 ? "" : "s", workers);
    if (task || num_shards % devices == 0) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "fit: the training that is resumed has %d shard%s, which %d devices do not divide: take another "
                    "number of devices, or give a number of shards (.num_shards of the strategy, --shards N) to go on "
                    "with other sums",
                    num_shards, num_shards == 1 ? "" : "s", devices);
}

mst_status mst_resumed_shards_take(mst_trainer *trainer) {
    int number;
    const bool was_built = trainer->train.built;
    MST_TRY(mst_resumed_shards_read(trainer, &number));
    if (number == trainer->strategy.num_shards) return MST_OK;
    MST_TRY(mst_resumed_shards_check(trainer, number));
    MST_TRY(mst_trainer_empty_graph(trainer));
    trainer->strategy.num_shards = number;
    MST_TRY(MST_COOPERATE(trainer, share, trainer));
    mst_trainer_choose_devices(trainer);
    return was_built ? mst_trainer_build(trainer, &trainer->train, true) : MST_OK;
}
