#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    return e->maximize || (e->monitor && strstr(e->monitor, "accuracy"));
}

/* The variables of the model, one for each of e->best_weights, which the first call makes room for. */
static mst_status list_weights(mst_early_stopping *e, mst_model *model, mst_value **out) {
    const mst_graph *graph = mst_model_graph(model);
    int count = e->best_weights ? e->num_weights : mst_collection(graph, MST_VARIABLES, NULL, NULL, 0);
    if (!e->best_weights) e->best_weights = calloc((size_t)count + 1, sizeof(mst_tensor *));
    *out = calloc((size_t)count + 1, sizeof **out);
    if (!*out || !e->best_weights) {
        free(*out);
        return MST_FAIL(MST_OUT_OF_MEMORY, "early stopping: cannot get memory for a list of weights");
    }
    e->num_weights = count;
    mst_collection(graph, MST_VARIABLES, NULL, *out, count);
    return MST_OK;
}

static mst_status keep_weights(mst_early_stopping *e, mst_model *model) {
    mst_value *variable;
    MST_TRY(list_weights(e, model, &variable));
    mst_status status = MST_OK;
    for (int i = 0; i < e->num_weights && !status; i++) {
        mst_tensor *value;
        status = mst_session_get_variable(mst_model_session(model), variable[i], &value);
        if (status) break;
        mst_tensor_release(e->best_weights[i]);
        e->best_weights[i] = value;
    }
    free(variable);
    return status;
}

static mst_status restore_weights(mst_early_stopping *e, mst_model *model) {
    mst_value *variable;
    MST_TRY(list_weights(e, model, &variable));
    mst_status status = MST_OK;
    for (int i = 0; i < e->num_weights && e->best_weights[i] && !status; i++)
        status = mst_session_set_variable(mst_model_session(model), variable[i], e->best_weights[i]);
    free(variable);
    return status;
}

static void release_weights(mst_early_stopping *e) {
    for (int i = 0; i < e->num_weights; i++) mst_tensor_release(e->best_weights[i]);
    free(e->best_weights);
    e->best_weights = NULL;
    e->num_weights = 0;
}

static mst_status early_begin(void *context, mst_train_state *state) {
    (void)state;
    mst_early_stopping *e = context;
    e->best = larger_is_better(e) ? -INFINITY : INFINITY;
    e->best_epoch = e->waited = 0;
    e->best_weights = NULL;
    e->num_weights = 0;
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
    mst_status status = restore_weights(e, state->model);
    release_weights(e);
    return status;
}

mst_callback mst_early_stopping_callback(mst_early_stopping *state) {
    return (mst_callback){
        .context = state, .train_begin = early_begin, .epoch_end = early_epoch_end, .train_end = early_end};
}

/* ---- learning rate by epoch ---- */

static mst_status schedule_epoch_begin(void *context, mst_train_state *state) {
    const mst_learning_rate_scheduler *scheduler = context;
    state->learning_rate = scheduler->schedule(state->epoch, state->learning_rate);
    return MST_OK;
}

mst_callback mst_learning_rate_callback(mst_learning_rate_scheduler *scheduler) {
    return (mst_callback){.context = scheduler, .epoch_begin = schedule_epoch_begin};
}
