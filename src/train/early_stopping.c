/* The callback for early stopping. Its state (best value, epochs waited, best weights) is kept in entries of the store.
 * Checkpoints therefore include it, and a resumed fit goes on as if it had not been interrupted. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/argument.h"
#include "base/number.h"
#include "model/model.h"
#include "muster/train.h"
#include "store/store.h"
#include "train/monitor.h"
#include "train/trainer.h"

static const char who[] = "early_stopping";
enum { CONTAINER_SIZE = 256 };

static bool larger_is_better(const mst_early_stopping *e, const mst_train_state *state) {
    return mst_monitor_larger_is_better(e->monitor, state, e->maximize);
}

/* Writes the name of the container of the best weights. The best weights are entries of the store, so that checkpoints
 * include them; each has the name of its weight. When training ends, they are swapped with the weights; a fit that is
 * resumed swaps them back. */
static void container_of(const mst_early_stopping *e, char container[CONTAINER_SIZE]) {
    snprintf(container, CONTAINER_SIZE, "%s/%s/best", who, mst_monitor_name(e->monitor));
}

/* Adds the entries that ALL has in container FROM to CHANGES, under container TO. *COUNT: their number. */
static mst_status move(const mst_snapshot *all, const char *from, const char *to, mst_state_kind kind,
                       mst_snapshot *changes, int64_t *count) {
    for (int64_t i = 0; i < mst_snapshot_count(all); i++) {
        const mst_state_info info = mst_snapshot_info(all, i);
        if (strcmp(info.container, from) != 0 || (!*from && info.kind != MST_STATE_WEIGHT)) continue;
        MST_TRY(mst_snapshot_add(changes, to, info.name, kind, mst_snapshot_value(all, i)));
        ++*count;
    }
    return MST_OK;
}

/* Copies the weights into the container of the best ones. If EXCHANGE is true, swaps the weights and the best ones
 * instead. All happens in one turn of the store. */
static mst_status move_weights(const mst_early_stopping *e, mst_store *store, bool exchange) {
    char container[CONTAINER_SIZE];
    mst_snapshot *all, *changes;
    int64_t kept = 0, weights = 0;
    container_of(e, container);
    MST_TRY(mst_store_snapshot(store, &all));
    mst_status status = mst_snapshot_create(&changes);
    if (!status && exchange) status = move(all, container, "", MST_STATE_WEIGHT, changes, &kept);
    if (!status && (kept || !exchange)) status = move(all, "", container, MST_STATE_CURSOR, changes, &weights);
    if (!status && weights) status = mst_store_restore(store, changes);
    mst_snapshot_release(changes);
    mst_snapshot_release(all);
    return status;
}

static mst_status keep_weights(mst_early_stopping *e, mst_store *store) {
    MST_TRY(move_weights(e, store, false));
    e->has_best_weights = true;
    return mst_monitor_keep(store, who, e->monitor, "has_weights", 1);
}

/* Swaps the weights and the best ones, and stores STEP: the step at which the model got the best weights; 0: the model
 * has its last weights again. */
static mst_status exchange_weights(const mst_early_stopping *e, mst_store *store, int64_t step) {
    MST_TRY(move_weights(e, store, true));
    return mst_monitor_keep(store, who, e->monitor, "restored", (double)step);
}

static bool has_waited(const mst_early_stopping *e) {
    return e->waited > 0 && e->waited >= e->patience;
}

/* A fit that is resumed after its first epoch goes on from the kept state. If this callback had stopped it, it stops
 * again. */
static mst_status go_on(mst_early_stopping *e, mst_train_state *state) {
    mst_store *store = mst_model_store(state->model);
    double best_epoch = 0, waited = 0, has_weights = 0, counted = 0;
    MST_TRY(mst_monitor_kept(store, who, e->monitor, "best", &e->best));
    MST_TRY(mst_monitor_kept(store, who, e->monitor, "best_epoch", &best_epoch));
    MST_TRY(mst_monitor_kept(store, who, e->monitor, "waited", &waited));
    MST_TRY(mst_monitor_kept(store, who, e->monitor, "has_weights", &has_weights));
    MST_TRY(mst_monitor_kept(store, who, e->monitor, "counted", &counted));
    e->best_epoch = (int64_t)best_epoch;
    e->waited = (int64_t)waited;
    e->has_best_weights = has_weights != 0;
    e->counted = (int64_t)counted;
    state->stop |= has_waited(e) && !state->follows;
    return MST_OK;
}

static mst_status keep_numbers(const mst_early_stopping *e, mst_store *store) {
    MST_TRY(mst_monitor_keep(store, who, e->monitor, "best", e->best));
    MST_TRY(mst_monitor_keep(store, who, e->monitor, "best_epoch", (double)e->best_epoch));
    MST_TRY(mst_monitor_keep(store, who, e->monitor, "counted", (double)e->counted));
    return mst_monitor_keep(store, who, e->monitor, "waited", (double)e->waited);
}

/* Removes the best weights that another fit in this store has kept. */
static mst_status forget_weights(const mst_early_stopping *e, mst_store *store) {
    char container[CONTAINER_SIZE];
    double has_weights = 0;
    MST_TRY(mst_monitor_kept(store, who, e->monitor, "has_weights", &has_weights));
    if (has_weights == 0) return MST_OK;
    container_of(e, container);
    MST_TRY(mst_store_clear_container(store, container));
    MST_TRY(mst_monitor_keep(store, who, e->monitor, "has_weights", 0));
    return mst_monitor_keep(store, who, e->monitor, "restored", 0);
}

static void begin_anew(mst_early_stopping *e, const mst_train_state *state) {
    e->best = larger_is_better(e, state) ? -INFINITY : INFINITY;
    e->best_epoch = e->waited = e->counted = 0;
    e->has_best_weights = false;
}

static mst_status early_begin(void *context, mst_train_state *state) {
    mst_early_stopping *e = context;
    MST_TRY(mst_monitor_check("early stopping", e->monitor, state->metric_name, state->num_metrics, state->validates));
    begin_anew(e, state);
    e->has_trained = false;
    if (!state->resumed) MST_TRY(forget_weights(e, mst_model_store(state->model)));
    return state->epoch > 0 ? go_on(e, state) : MST_OK;
}

/* Before the first epoch, swaps the best weights back: training goes on with the weights with which it has ended. But
 * if a fit without this callback has trained the best weights further, training goes on with these, and the kept
 * weights, which are too old, are removed. */
static mst_status early_epoch_begin(void *context, mst_train_state *state) {
    mst_early_stopping *e = context;
    mst_store *store = mst_model_store(state->model);
    double restored = 0;
    if (e->has_trained) return MST_OK;
    e->has_trained = true;
    MST_TRY(mst_monitor_kept(store, who, e->monitor, "restored", &restored));
    if (restored == 0) return MST_OK;
    if (restored == (double)state->step) return exchange_weights(e, store, 0);
    begin_anew(e, state);
    MST_TRY(forget_weights(e, store));
    return keep_numbers(e, store);
}

static mst_status early_epoch_end(void *context, mst_train_state *state) {
    mst_early_stopping *e = context;
    mst_store *store = mst_model_store(state->model);
    double value;
    if (mst_monitor_is_cut_off(state) || state->follows) return MST_OK;
    if (state->epoch < e->counted) { /* this epoch was counted before: it ends once more, after a recovery */
        state->stop |= state->epoch + 1 == e->counted && has_waited(e);
        return MST_OK;
    }
    MST_TRY(mst_monitor_value("early stopping", e->monitor, state, &value));
    double gain = larger_is_better(e, state) ? value - e->best : e->best - value;
    bool better = gain > e->min_delta;
    if (e->restore_best_weights && (better || !e->has_best_weights)) MST_TRY(keep_weights(e, store));
    if (better) {
        e->best = value;
        e->best_epoch = state->epoch;
        e->waited = 0;
    } else {
        e->waited++;
        state->stop |= has_waited(e);
    }
    e->counted = state->epoch + 1;
    return keep_numbers(e, store);
}

/* Puts the best weights back at the end, if the options say so. It does nothing if this worker got the state of another
 * worker on which this has already been done. */
static mst_status early_end(void *context, mst_train_state *state) {
    const mst_early_stopping *e = context;
    double restored = 0;
    if (!e->restore_best_weights || !e->has_trained || !e->has_best_weights) return MST_OK;
    MST_TRY(mst_monitor_kept(mst_model_store(state->model), who, e->monitor, "restored", &restored));
    if (restored == (double)state->step) return MST_OK;
    MST_TRY(exchange_weights(e, mst_model_store(state->model), state->step));
    return MST_COOPERATE(state->model->trainer, weights_set, state->model->trainer);
}

static void stopping_settings(const void *context, char *text, size_t size) {
    const mst_early_stopping *e = context;
    char patience[MST_NUMBER_TEXT] = "", delta[MST_NUMBER_TEXT];
    if (e->patience != INT64_MAX) snprintf(patience, sizeof patience, ", patience %" PRId64, e->patience);
    snprintf(text, size, "%s: %s%s, min_delta %s%s%s", who, mst_monitor_name(e->monitor), patience,
             mst_number_print_f64(e->min_delta, delta), e->maximize ? ", maximize" : "",
             e->restore_best_weights ? ", restore_best_weights" : "");
}

mst_callback mst_early_stopping_callback(mst_early_stopping *state) {
    if (MST_IS_NULL(state)) return (mst_callback){0};
    /* reset here: if the next fit fails early, train_end is called without train_begin */
    state->has_best_weights = state->has_trained = false;
    return (mst_callback){.context = state,
                          .train_begin = early_begin,
                          .epoch_begin = early_epoch_begin,
                          .epoch_end = early_epoch_end,
                          .train_end = early_end,
                          .settings = stopping_settings};
}
