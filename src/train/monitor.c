#include "train/monitor.h"

#include <stdio.h>
#include <string.h>

#include "base/argument.h"
#include "metric/metric.h"
#include "model/model.h"
#include "train/trainer.h"

const char *mst_monitor_name(const char *name) {
    return name ? name : "val_loss";
}

bool mst_monitor_is_of_validation(const char *name) {
    return strncmp(mst_monitor_name(name), "val_", 4) == 0;
}

mst_status mst_monitor_check(const char *who, const char *name, const char *const *metrics, int num_metrics,
                             bool validates) {
    enum { LIST_SIZE = 1024 };
    char list[LIST_SIZE] = "loss";
    const char *plain = mst_monitor_name(name);
    const bool validation = strncmp(plain, "val_", 4) == 0;
    if (validation) plain += 4;
    bool found = strcmp(plain, "loss") == 0;
    for (int m = 0; m < num_metrics; m++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, ", %s", metrics[m]);
        found |= strcmp(plain, metrics[m]) == 0;
    }
    if (found && (validates || !validation)) return MST_OK;
    return MST_FAIL(MST_INVALID, "%s: there is no '%s': monitor %s%s", who, mst_monitor_name(name), list,
                    validates ? ", or one of these with val_ before it"
                              : "; with validation data also one of these with val_ before it");
}

mst_status mst_model_check_monitor(mst_model *model, const char *name, bool validates) {
    mst_trainer *trainer;
    if (MST_IS_NULL(model) || MST_IS_NULL(name)) return MST_INVALID;
    MST_TRY(mst_trainer_of(model, &trainer));
    return mst_monitor_check("monitor", name, trainer->metric_name, trainer->num_metrics, validates);
}

static bool monitor_find(const char *name, const mst_train_state *state, double *value) {
    const bool validation = strncmp(name, "val_", 4) == 0;
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

mst_status mst_monitor_value(const char *who, const char *name, const mst_train_state *state, double *out) {
    if (monitor_find(mst_monitor_name(name), state, out)) return MST_OK;
    return MST_FAIL(MST_INVALID, "%s: there is no '%s': monitor \"loss\", a metric, or give validation data", who,
                    mst_monitor_name(name));
}

bool mst_monitor_is_cut_off(const mst_train_state *state) {
    return state->stop && state->step_in_epoch != state->steps_per_epoch;
}

/* Whether a larger value is better. A metric that the user has defined is judged by its name. */
static bool is_to_grow(const mst_measure *measure) {
    if (measure->is_loss) return false;
    if (!measure->custom) return mst_metric_table[measure->metric]->larger_is_better;
    if (measure->custom->larger_is_better) return true;
    for (int m = 0; m < MST_NUM_METRICS && measure->custom->name; m++)
        if (strcmp(measure->custom->name, mst_metric_names[m]) == 0) return mst_metric_table[m]->larger_is_better;
    return false;
}

bool mst_monitor_larger_is_better(const char *name, const mst_train_state *state, bool maximize) {
    const mst_trainer *trainer = state->model->trainer;
    name = mst_monitor_name(name);
    if (strncmp(name, "val_", 4) == 0) name += 4;
    for (int m = 0; m < trainer->num_metrics; m++)
        if (strcmp(name, trainer->metric_name[m]) == 0) return maximize || is_to_grow(&trainer->measure[m]);
    return maximize;
}

static void entry_name(const char *who, const char *monitor, const char *what, char name[256]) {
    snprintf(name, 256, "%s/%s/%s", who, mst_monitor_name(monitor), what);
}

mst_status mst_monitor_keep(mst_store *store, const char *who, const char *monitor, const char *what, double value) {
    char name[256];
    mst_tensor *tensor;
    entry_name(who, monitor, what, name);
    MST_TRY(mst_tensor_copy(MST_F64, MST_SCALAR, &value, &tensor));
    const mst_status status = mst_store_set(store, NULL, name, MST_STATE_CURSOR, tensor);
    mst_tensor_release(tensor);
    return status;
}

mst_status mst_monitor_kept(mst_store *store, const char *who, const char *monitor, const char *what, double *out) {
    char name[256];
    mst_tensor *tensor;
    entry_name(who, monitor, what, name);
    const mst_status status = mst_store_get(store, NULL, name, &tensor);
    if (status == MST_NOT_FOUND) return MST_OK;
    MST_TRY(status);
    *out = mst_tensor_get(tensor, 0);
    mst_tensor_release(tensor);
    return MST_OK;
}
