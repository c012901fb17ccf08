#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "metric/metric.h"
#include "muster/train.h"

/* ---- early stopping ---- */

/* The value named by `monitor`; false where there is none. */
static bool monitored(const mst_early_stopping *e, const mst_train_state *state, double *value) {
    const char *name = e->monitor ? e->monitor : "val_loss";
    bool validation = strncmp(name, "val_", 4) == 0;
    if (validation) name += 4;
    if (validation && !state->has_validation) return false;
    if (strcmp(name, "loss") == 0) {
        *value = validation ? state->validation_loss : state->loss;
        return true;
    }
    for (int m = 0; m < state->num_metrics; m++)
        if (strcmp(name, state->metric_name[m]) == 0) {
            *value = validation ? state->validation_metric[m] : state->metric[m];
            return true;
        }
    return false;
}

static bool larger_is_better(const mst_early_stopping *e) {
    const char *name = e->monitor ? e->monitor : "";
    if (strncmp(name, "val_", 4) == 0) name += 4;
    for (int m = 0; m < MST_NUM_METRICS; m++)
        if (strcmp(name, mst_metric_names[m]) == 0 && mst_metric_table[m]->larger_is_better) return true;
    return e->maximize;
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

static mst_status early_begin(void *context, mst_train_state *state) {
    (void)state;
    mst_early_stopping *e = context;
    e->best = larger_is_better(e) ? -INFINITY : INFINITY;
    e->best_epoch = e->waited = 0;
    e->best_weights = NULL;
    return MST_OK;
}

static mst_status early_epoch_end(void *context, mst_train_state *state) {
    mst_early_stopping *e = context;
    double value;
    if (!monitored(e, state, &value))
        return MST_FAIL(MST_INVALID,
                        "early stopping: there is no '%s': monitor \"loss\", a metric, or give validation data",
                        e->monitor ? e->monitor : "val_loss");
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
    return MST_OK;
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
