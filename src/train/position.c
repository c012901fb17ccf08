/* Where training is: entries of the store, which each step brings up to date itself. */
#include "train/position.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "muster/ops.h"
#include "store/store.h"
#include "train/ended_epoch.h"

#define BATCH "fit/batch"
#define NUMBER "fit/number"
#define RATE "fit/learning_rate"

/* The entries of a position that are numbers. */
static const struct place {
    const char *name;
    mst_state_kind kind;
    size_t offset;
} places[] = {{"fit/first_epoch", MST_STATE_CURSOR, offsetof(mst_position, first_epoch)},
              {"fit/first_step", MST_STATE_CURSOR, offsetof(mst_position, first_step)},
              {"fit/epoch", MST_STATE_CURSOR, offsetof(mst_position, epoch)},
              {BATCH, MST_STATE_CURSOR, offsetof(mst_position, batch)},
              {MST_STATE_SEED, MST_STATE_RANDOM, offsetof(mst_position, seed)}};
enum { NUM_PLACES = sizeof places / sizeof *places };

/* ---- in the graph ---- */

static mst_value state_variable(mst_graph *graph, const char *name, mst_dtype dtype, mst_state_kind kind) {
    return mst_variable(graph, name, mst_scalar(graph, dtype, 0), .not_trainable = true, .hidden = true,
                        .kind = (int)kind);
}

/* Adds VALUE, a scalar or [n], to the running sum NAME; the sum after it. */
static mst_value add_up(mst_graph *graph, const char *name, mst_value value) {
    const mst_value zeros = mst_fill(graph, MST_F64, mst_value_spec(value).shape, 0);
    const mst_value sum =
        mst_variable(graph, name, zeros, .not_trainable = true, .hidden = true, .kind = (int)MST_STATE_METRIC);
    return mst_assign_add(sum, mst_cast(value, MST_F64));
}

static mst_value count_up(mst_graph *graph, const char *name) {
    return mst_assign_add(state_variable(graph, name, MST_I64, MST_STATE_CURSOR), mst_scalar(graph, MST_I64, 1));
}

/* Sum I of an epoch: of the values and of the counts of each metric, then of the losses and of the examples. */
static const char *sum_name(const mst_trainer *trainer, int i, char name[128]) {
    if (i >= 2 * trainer->num_metrics) return i == 2 * trainer->num_metrics ? "fit/loss_sum" : "fit/examples";
    snprintf(name, 128, "fit/%s_%d_%s", trainer->metric_name[i / 2], i / 2, i % 2 ? "count" : "sum");
    return name;
}

static mst_value position_build(mst_trainer *trainer, mst_sharded_step *step) {
    mst_graph *graph = trainer->graph;
    const mst_step_values *values = &step->values;
    const mst_value examples = mst_cast(values->num_examples, MST_F64);
    char name[128];
    mst_value add[MST_NUM_SUMS(MST_MAX_METRICS)];
    int n = 0;
    for (int m = 0; m < trainer->num_metrics; m++) {
        add[n++] = values->metric_sum[m];
        add[n++] = values->metric_count[m];
    }
    add[n++] = mst_mul(mst_cast(values->loss, MST_F64), examples);
    add[n++] = examples;
    for (int i = 0; i < n; i++) step->fetch[step->num_fetches++] = add_up(graph, sum_name(trainer, i, name), add[i]);
    const mst_value counted = count_up(graph, BATCH);
    if (!trainer->options.task) return counted;
    return mst_group((const mst_value[]){counted, count_up(graph, NUMBER)}, 2);
}

mst_value mst_position_build(mst_trainer *trainer, mst_sharded_step *step) {
    mst_value counted = MST_NONE;
    mst_with_device (trainer->graph, trainer->devices[0])
        mst_with_name (trainer->graph, "fit") counted = position_build(trainer, step);
    return counted;
}

/* ---- in the store ---- */

/* The entry NAME, of 8 bytes. Leaves *OUT as it is where there is none; FOUND may be NULL. */
static mst_status get_number(mst_store *store, const char *name, void *out, bool *found) {
    mst_tensor *value;
    const mst_status status = mst_store_get(store, NULL, name, &value);
    if (found) *found = !status;
    if (status == MST_NOT_FOUND) return MST_OK;
    MST_TRY(status);
    memcpy(out, mst_tensor_data(value), sizeof(int64_t));
    mst_tensor_release(value);
    return MST_OK;
}

mst_status mst_position_read(mst_trainer *trainer, mst_position *out) {
    mst_store *store = trainer->model->store;
    *out = (mst_position){.learning_rate = NAN};
    for (int i = 0; i < NUM_PLACES; i++)
        MST_TRY(get_number(store, places[i].name, (char *)out + places[i].offset, &out->begun));
    MST_TRY(get_number(store, NUMBER, &out->number, NULL));
    MST_TRY(get_number(store, RATE, &out->learning_rate, NULL));
    return get_number(store, MST_STATE_GLOBAL_STEP, &out->step, NULL);
}

mst_status mst_position_adopt(mst_trainer *trainer, mst_position *position) {
    mst_tensor *value;
    if (position->number || (!position->begun && !position->step)) return MST_OK;
    position->number = 1;
    MST_TRY(mst_tensor_copy(MST_I64, MST_SCALAR, &position->number, &value));
    const mst_status status = mst_store_set(trainer->model->store, NULL, NUMBER, MST_STATE_CURSOR, value);
    mst_tensor_release(value);
    return status;
}

mst_status mst_position_sums(mst_trainer *trainer, mst_tensor **out) {
    const int count = MST_NUM_SUMS(trainer->num_metrics);
    mst_status status = MST_OK;
    char name[128];
    for (int i = 0; i < count; i++) out[i] = NULL;
    for (int i = 0; i < count && !status; i++)
        status = mst_store_get(trainer->model->store, NULL, sum_name(trainer, i, name), &out[i]);
    for (int i = 0; status && i < count; i++) {
        mst_tensor_release(out[i]);
        out[i] = NULL;
    }
    return status;
}

static mst_status add_number(mst_snapshot *changes, const char *name, mst_dtype dtype, mst_state_kind kind,
                             const void *number) {
    mst_tensor *value;
    MST_TRY(mst_tensor_copy(dtype, MST_SCALAR, number, &value));
    const mst_status status = mst_snapshot_add(changes, NULL, name, kind, value);
    mst_tensor_release(value);
    return status;
}

/* What only a cluster has: the state has changed once more, the rate of the epoch, the row of the one before. */
static mst_status add_of_cluster(mst_snapshot *changes, mst_store *store, const mst_position *position,
                                 const mst_train_state *ended) {
    int64_t number = 0;
    MST_TRY(get_number(store, NUMBER, &number, NULL));
    number++;
    MST_TRY(add_number(changes, NUMBER, MST_I64, MST_STATE_CURSOR, &number));
    MST_TRY(add_number(changes, RATE, MST_F64, MST_STATE_CURSOR, &position->learning_rate));
    return ended ? mst_ended_epoch_add(changes, position->epoch - 1, ended) : MST_OK;
}

static mst_status add_zeros(mst_snapshot *changes, const mst_state_info *sum) {
    mst_tensor *zeros;
    MST_TRY(mst_tensor_create(sum->spec.dtype, sum->spec.shape, &zeros));
    const mst_status status = mst_snapshot_add(changes, NULL, sum->name, MST_STATE_METRIC, zeros);
    mst_tensor_release(zeros);
    return status;
}

static mst_status add_zero_sums(mst_snapshot *changes, mst_store *store) {
    mst_state_info *list;
    int64_t count;
    mst_status status = mst_store_list(store, &list, &count);
    for (int64_t i = 0; i < count && !status; i++)
        if (list[i].kind == MST_STATE_METRIC && strncmp(list[i].name, "fit/", 4) == 0)
            status = add_zeros(changes, &list[i]);
    free(list);
    return status;
}

mst_status mst_position_begin_epoch(mst_trainer *trainer, const mst_position *position, const mst_train_state *ended) {
    mst_snapshot *changes;
    MST_TRY(mst_snapshot_create(&changes));
    mst_status status = add_zero_sums(changes, trainer->model->store);
    for (int i = 0; i < NUM_PLACES && !status; i++)
        status =
            add_number(changes, places[i].name, MST_I64, places[i].kind, (const char *)position + places[i].offset);
    if (trainer->options.task && !status) status = add_of_cluster(changes, trainer->model->store, position, ended);
    /* all at once: no snapshot sees a part of it */
    if (!status) status = mst_store_restore(trainer->model->store, changes);
    mst_snapshot_release(changes);
    return status;
}
