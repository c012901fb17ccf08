#include <math.h>
#include <stdlib.h>

#include "base/argument.h"
#include "muster/train.h"
#include "train/monitor.h"

/* ---- early stopping ---- */

static const char who[] = "early_stopping";

static bool larger_is_better(const mst_early_stopping *e) {
    return mst_monitor_larger_is_better(e->monitor, e->maximize);
}

/* A snapshot of the weights; what else is in the store goes on. */
static mst_status keep_weights(mst_early_stopping *e, mst_model *model) {
    mst_snapshot *all, *weights;
    MST_TRY(mst_store_snapshot(mst_model_store(model), &all));
    mst_status status = mst_snapshot_create(&weights);
    for (int64_t i = 0; i < mst_snapshot_count(all) && !status; i++) {
        const mst_state_info info = mst_snapshot_info(all, i);
        if (info.kind == MST_STATE_WEIGHT)
            status = mst_snapshot_add(weights, info.container, info.name, info.kind, mst_snapshot_value(all, i));
    }
    mst_snapshot_release(all);
    mst_snapshot_release(status ? weights : e->best_weights);
    if (!status) e->best_weights = weights;
    return status;
}

/* A fit that is resumed after its first epoch goes on from what it kept, also where it was stopped by this. */
static mst_status go_on(mst_early_stopping *e, mst_train_state *state) {
    mst_store *store = mst_model_store(state->model);
    double best_epoch = 0, waited = 0;
    MST_TRY(mst_monitor_kept(store, who, e->monitor, "best", &e->best));
    MST_TRY(mst_monitor_kept(store, who, e->monitor, "best_epoch", &best_epoch));
    MST_TRY(mst_monitor_kept(store, who, e->monitor, "waited", &waited));
    e->best_epoch = (int64_t)best_epoch;
    e->waited = (int64_t)waited;
    if (e->waited > 0 && e->waited >= e->patience) state->stop = true;
    return MST_OK;
}

static mst_status keep_numbers(const mst_early_stopping *e, mst_store *store) {
    MST_TRY(mst_monitor_keep(store, who, e->monitor, "best", e->best));
    MST_TRY(mst_monitor_keep(store, who, e->monitor, "best_epoch", (double)e->best_epoch));
    return mst_monitor_keep(store, who, e->monitor, "waited", (double)e->waited);
}

static mst_status early_begin(void *context, mst_train_state *state) {
    mst_early_stopping *e = context;
    e->best = larger_is_better(e) ? -INFINITY : INFINITY;
    e->best_epoch = e->waited = 0;
    e->best_weights = NULL;
    return state->epoch > 0 ? go_on(e, state) : MST_OK;
}

static mst_status early_epoch_end(void *context, mst_train_state *state) {
    mst_early_stopping *e = context;
    double value;
    if (mst_monitor_is_cut_off(state)) return MST_OK;
    MST_TRY(mst_monitor_value("early stopping", e->monitor, state, &value));
    double gain = larger_is_better(e) ? value - e->best : e->best - value;
    bool better = gain > e->min_delta;
    if (e->restore_best_weights && (better || !e->best_weights)) MST_TRY(keep_weights(e, state->model));
    if (better) {
        e->best = value;
        e->best_epoch = state->epoch;
        e->waited = 0;
    } else if (++e->waited >= e->patience) {
        state->stop = true;
    }
    return keep_numbers(e, mst_model_store(state->model));
}

static mst_status early_end(void *context, mst_train_state *state) {
    mst_early_stopping *e = context;
    if (!e->best_weights) return MST_OK;
    mst_status status = mst_store_restore(mst_model_store(state->model), e->best_weights);
    mst_snapshot_release(e->best_weights);
    e->best_weights = NULL;
    return status;
}

mst_callback mst_early_stopping_callback(mst_early_stopping *state) {
    if (MST_IS_NULL(state)) return (mst_callback){0};
    return (mst_callback){
        .context = state, .train_begin = early_begin, .epoch_end = early_epoch_end, .train_end = early_end};
}

/* ---- learning rate by epoch ---- */

static mst_status schedule_epoch_begin(void *context, mst_train_state *state) {
    const mst_learning_rate_scheduler *scheduler = context;
    if (!scheduler->schedule) return MST_FAIL(MST_INVALID, "learning rate scheduler: it has no schedule");
    if (state->step_in_epoch > 0)
        return MST_OK; /* resumed in the middle of an epoch, whose rate was set at its begin */
    state->learning_rate = scheduler->schedule(scheduler->context, state->epoch, state->learning_rate);
    return MST_OK;
}

mst_callback mst_learning_rate_callback(mst_learning_rate_scheduler *scheduler) {
    if (MST_IS_NULL(scheduler)) return (mst_callback){0};
    return (mst_callback){.context = scheduler, .epoch_begin = schedule_epoch_begin};
}
