#include "train/ended_epoch.h"

#include <stdio.h>

enum { NAME = 128, MOST = 7 + 2 * MST_MAX_METRICS /* entries: see fill() */ };

/* The row of an epoch, in the order of its entries. */
typedef struct row {
    char name[MOST][NAME];
    double value[MOST];
    int count;
} row;

static void add(row *r, const char *prefix, const char *name, double value) {
    snprintf(r->name[r->count], NAME, "fit/ended/%s%s", prefix, name);
    r->value[r->count++] = value;
}

/* The names of metrics get a number at their end, as the names of their sums do: two outputs may have the same
 * metric. */
static void add_values(row *r, const mst_train_state *s, const char *prefix, double loss, const double *metric) {
    char name[NAME];
    add(r, prefix, "loss", loss);
    for (int m = 0; m < s->num_metrics; m++) {
        snprintf(name, sizeof name, "%.100s_%d", s->metric_name[m], m);
        add(r, prefix, name, metric[m]);
    }
}

static void fill(row *r, int64_t epoch, const mst_train_state *s) {
    r->count = 0;
    add(r, "", "epoch", (double)epoch);
    add(r, "", "steps", (double)s->step_in_epoch);
    add(r, "", "examples", (double)s->examples);
    add(r, "", "learning_rate", s->learning_rate);
    add(r, "", "has_validation", s->has_validation);
    add_values(r, s, "", s->loss, s->metric);
    add_values(r, s, "val_", s->validation_loss, s->validation_metric);
}

mst_status mst_ended_epoch_add(mst_snapshot *changes, int64_t epoch, const mst_train_state *state) {
    row r;
    mst_status status = MST_OK;
    fill(&r, epoch, state);
    for (int i = 0; i < r.count && !status; i++) {
        mst_tensor *value;
        MST_TRY(mst_tensor_copy(MST_F64, MST_SCALAR, &r.value[i], &value));
        status = mst_snapshot_add(changes, NULL, r.name[i], MST_STATE_CURSOR, value);
        mst_tensor_release(value);
    }
    return status;
}

mst_status mst_ended_epoch_read(mst_store *store, int64_t epoch, mst_train_state *state) {
    row r;
    fill(&r, epoch, state); /* fills in the names; the values are overwritten below */
    for (int i = 0; i < r.count; i++) {
        mst_tensor *value;
        MST_TRY(mst_store_get(store, NULL, r.name[i], &value));
        r.value[i] = mst_tensor_get(value, 0);
        mst_tensor_release(value);
    }
    const double *value = r.value;
    if (*value++ != (double)epoch)
        return MST_FAIL(MST_NOT_FOUND, "fit: the checkpoint has no results of epoch %lld", (long long)epoch);
    state->step_in_epoch = (int64_t)*value++;
    state->examples = (int64_t)*value++;
    state->learning_rate = *value++;
    state->has_validation = *value++ != 0;
    state->loss = *value++;
    for (int m = 0; m < state->num_metrics; m++) state->metric[m] = *value++;
    state->validation_loss = *value++;
    for (int m = 0; m < state->num_metrics; m++) state->validation_metric[m] = *value++;
    return MST_OK;
}
