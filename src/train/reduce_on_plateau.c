/* The callback that reduces the learning rate when the monitored value does not improve: Keras' ReduceLROnPlateau. Its
 * state is in the store, including the rate that it has set at the end of an epoch. A fit that is resumed from a
 * snapshot of that moment ends the epoch once more, and the callback sets the same rate again. */
#include <math.h>
#include <stdio.h>

#include "base/argument.h"
#include "base/number.h"
#include "graph/field.h"
#include "muster/train.h"
#include "train/monitor.h"

static const char who[] = "reduce_on_plateau";

static bool plateau_larger_is_better(const mst_reduce_on_plateau *p, const mst_train_state *state) {
    return mst_monitor_larger_is_better(p->monitor, state, p->maximize);
}

static mst_status plateau_check(mst_reduce_on_plateau *p, const mst_train_state *state) {
    MST_TRY(
        mst_monitor_check("reduce on plateau", p->monitor, state->metric_name, state->num_metrics, state->validates));
    if (p->factor == 0) p->factor = 0.1;
    if (p->patience == 0) p->patience = 10;
    if (!mst_number_given(p->min_delta)) p->min_delta = 1e-4;
    if (!(p->factor > 0 && p->factor < 1))
        return MST_FAIL(MST_INVALID, "reduce on plateau: factor is %g, it must be above 0 and below 1", p->factor);
    if (p->patience < 0 || p->cooldown < 0)
        return MST_FAIL(MST_INVALID, "reduce on plateau: patience is %lld and cooldown %lld, they must not be negative",
                        (long long)p->patience, (long long)p->cooldown);
    if (!(p->min_delta >= 0 && p->min_learning_rate >= 0))
        return MST_FAIL(MST_INVALID,
                        "reduce on plateau: min_delta is %g and min_learning_rate %g, they must not be negative",
                        p->min_delta, p->min_learning_rate);
    return MST_OK;
}

/* ---- in the store ---- */

static mst_status read_count(mst_store *store, const char *monitor, const char *what, int64_t *out) {
    double value = 0;
    MST_TRY(mst_monitor_kept(store, who, monitor, what, &value));
    *out = (int64_t)value;
    return MST_OK;
}

static mst_status read_numbers(mst_reduce_on_plateau *p, mst_store *store) {
    MST_TRY(mst_monitor_kept(store, who, p->monitor, "best", &p->best));
    MST_TRY(mst_monitor_kept(store, who, p->monitor, "reduced", &p->reduced));
    MST_TRY(read_count(store, p->monitor, "waited", &p->waited));
    MST_TRY(read_count(store, p->monitor, "cooling", &p->cooling));
    return read_count(store, p->monitor, "counted", &p->counted);
}

static mst_status keep_numbers(const mst_reduce_on_plateau *p, mst_store *store) {
    MST_TRY(mst_monitor_keep(store, who, p->monitor, "best", p->best));
    MST_TRY(mst_monitor_keep(store, who, p->monitor, "reduced", p->reduced));
    MST_TRY(mst_monitor_keep(store, who, p->monitor, "waited", (double)p->waited));
    MST_TRY(mst_monitor_keep(store, who, p->monitor, "cooling", (double)p->cooling));
    return mst_monitor_keep(store, who, p->monitor, "counted", (double)p->counted);
}

/* ---- the callback ---- */

static mst_status plateau_begin(void *context, mst_train_state *state) {
    mst_reduce_on_plateau *p = context;
    MST_TRY(plateau_check(p, state));
    p->best = plateau_larger_is_better(p, state) ? -INFINITY : INFINITY;
    p->waited = p->cooling = p->counted = 0;
    p->reduced = 0;
    mst_store *store = mst_model_store(state->model);
    return state->resumed ? read_numbers(p, store) : keep_numbers(p, store);
}

/* Counts as Keras' callback does: an epoch of the cooldown or an improvement sets the count to 0. */
static void plateau_count(mst_reduce_on_plateau *p, double value, const mst_train_state *state) {
    if (p->cooling > 0) {
        p->cooling--;
        p->waited = 0;
    }
    const bool better =
        plateau_larger_is_better(p, state) ? value > p->best + p->min_delta : value < p->best - p->min_delta;
    p->reduced = 0;
    if (better) {
        p->best = value;
        p->waited = 0;
    } else if (p->cooling == 0 && ++p->waited >= p->patience && state->learning_rate > p->min_learning_rate) {
        p->reduced = fmax(state->learning_rate * p->factor, p->min_learning_rate);
        p->cooling = p->cooldown;
        p->waited = 0;
    }
}

static mst_status plateau_epoch_end(void *context, mst_train_state *state) {
    mst_reduce_on_plateau *p = context;
    double value;
    const bool validated = mst_monitor_is_of_validation(p->monitor);
    if (mst_monitor_is_cut_off(state) || (validated && !state->has_validation)) return MST_OK;
    if (state->epoch >= p->counted) {
        MST_TRY(mst_monitor_value("reduce on plateau", p->monitor, state, &value));
        plateau_count(p, value, state);
        p->counted = state->epoch + 1;
        MST_TRY(keep_numbers(p, mst_model_store(state->model)));
    }
    if (p->reduced > 0 && p->counted == state->epoch + 1) state->learning_rate = p->reduced;
    return MST_OK;
}

static void plateau_settings(const void *context, char *text, size_t size) {
    const mst_reduce_on_plateau *p = context;
    char factor[MST_NUMBER_TEXT], delta[MST_NUMBER_TEXT], least[MST_NUMBER_TEXT];
    snprintf(text, size, "%s: %s, %s after %lld by %s, cooldown %lld, min %s%s", who, mst_monitor_name(p->monitor),
             mst_number_print_f64(p->factor, factor), (long long)p->patience, mst_number_print_f64(p->min_delta, delta),
             (long long)p->cooldown, mst_number_print_f64(p->min_learning_rate, least),
             p->maximize ? ", maximize" : "");
}

mst_callback mst_reduce_on_plateau_callback(mst_reduce_on_plateau *state) {
    if (MST_IS_NULL(state)) return (mst_callback){0};
    return (mst_callback){
        .context = state, .train_begin = plateau_begin, .epoch_end = plateau_epoch_end, .settings = plateau_settings};
}
