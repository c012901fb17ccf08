/* The position of training: entries of the store, which each step updates itself. */
#include "train/position.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "muster/ops.h"
#include "store/store.h"
#include "strategy/strategy.h"
#include "train/ended_epoch.h"

#define BATCH "fit/batch"
#define NUMBER "fit/number"
#define RATE "fit/learning_rate"
/* Names of sums begin with OWN or SERVED. OWN: sums over the epoch. SERVED: sums of asynchronous parameter servers,
 * over all workers since their job began. STEP_LOSS is the sum of the losses of all workers in their last step. */
#define OWN "fit/"
#define SERVED "served/"
#define STEP_LOSS OWN "step_loss_sum"

/* Members of a position, and the entries of the store that keep them. */
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

/* The variable NAME for a sum of values like VALUE, a scalar or [n]. */
static mst_value sum_variable(mst_graph *graph, const char *name, mst_value value) {
    const mst_value zeros = mst_fill(graph, MST_F64, mst_value_spec(value).shape, 0);
    return mst_variable(graph, name, zeros, .not_trainable = true, .hidden = true, .kind = (int)MST_STATE_METRIC);
}

/* Adds VALUE to the running sum NAME; returns the new sum. */
static mst_value add_up(mst_graph *graph, const char *name, mst_value value) {
    return mst_assign_add(sum_variable(graph, name, value), mst_cast(value, MST_F64));
}

static mst_value count_up(mst_graph *graph, const char *name) {
    return mst_assign_add(state_variable(graph, name, MST_I64, MST_STATE_CURSOR), mst_scalar(graph, MST_I64, 1));
}

/* The name of sum I in FOLDER. The sums are the values and the counts of each metric, then the losses and the
 * examples. */
static const char *sum_name(const mst_trainer *trainer, const char *folder, int i, char name[128]) {
    const int m = i / 2;
    if (m < trainer->num_metrics)
        snprintf(name, 128, "%s%s_%d_%s", folder, trainer->metric_name[m], m, i % 2 ? "count" : "sum");
    else
        snprintf(name, 128, "%s%s", folder, i % 2 ? "examples" : "loss_sum");
    return name;
}

/* Adds up the sums of this task's step in the graph. */
static void build_sums(mst_trainer *trainer, mst_sharded_step *step) {
    const mst_step_values *values = &step->values;
    char name[128];
    mst_value add[MST_NUM_SUMS(MST_MAX_METRICS)];
    int n = 0;
    for (int m = 0; m < trainer->num_metrics; m++) {
        add[n++] = values->metric_sum[m];
        add[n++] = values->metric_count[m];
    }
    add[n++] = values->loss_sum;
    add[n++] = values->num_examples;
    for (int i = 0; i < n; i++)
        step->fetch[step->num_fetches++] = add_up(trainer->graph, sum_name(trainer, OWN, i, name), add[i]);
}

/* ---- sums that parameter servers keep ---- */

/* Whether parameter servers keep the sums of an epoch, because all workers are at the same step of it. Otherwise the
 * sums only grow, and each worker uses their growth in its own epochs. */
static bool keeps_sums_of_epoch(const mst_trainer *trainer) {
    return trainer->rules.counts_others && trainer->rules.in_step;
}

static const char *folder_of(const mst_trainer *trainer) {
    return trainer->rules.counts_others && !keeps_sums_of_epoch(trainer) ? SERVED : OWN;
}

/* Appends COUNT variables to the variables of VALUES. Variable V rises by the reported sum number FROM[V] of each
 * leaf. */
static void append_variables(mst_graph *graph, mst_step_values *values, const mst_value *variable,
                             const mst_join_kind *how, const int *from, int count, int num_sums) {
    const int before = values->num_variables, each = values->num_gradients / values->num_leaves;
    const size_t all = (size_t)before + (size_t)count;
    const int num_gradients = values->num_gradients + count * values->num_leaves;
    mst_value *variables = mst_arena_alloc(&graph->arena, (all + (size_t)num_gradients) * sizeof *variables);
    mst_join_kind *join = mst_arena_alloc(&graph->arena, all * sizeof *join);
    bool *sparse = mst_arena_alloc(&graph->arena, all * sizeof *sparse);
    if (!variables || !join || !sparse) {
        MST_VALUE_NO_MEMORY(graph, "for the sums of an epoch");
        return;
    }
    memcpy(variables, values->variable, (size_t)before * sizeof *variables);
    memcpy(join, values->join, (size_t)before * sizeof *join);
    memcpy(sparse, values->sparse, (size_t)before * sizeof *sparse);
    memcpy(variables + before, variable, (size_t)count * sizeof *variables);
    memcpy(join + before, how, (size_t)count * sizeof *join);
    memset(sparse + before, 0, (size_t)count * sizeof *sparse);
    mst_value *const gradient = variables + all, *to = gradient;
    for (int l = 0; l < values->num_leaves; l++) {
        memcpy(to, values->gradient + (ptrdiff_t)l * each, (size_t)each * sizeof *to);
        to += each;
        for (int v = 0; v < count; v++) *to++ = values->reported[l * num_sums + from[v]];
    }
    values->variable = variables, values->join = join, values->sparse = sparse, values->gradient = gradient;
    values->num_variables = (int)all;
    values->num_gradients = num_gradients;
}

/* Builds the sums over all workers as variables of the servers. They rise by the sums that each leaf reports, and are
 * sent to the workers with all other variables. If workers are in step, there is also the sum of the losses of a
 * step. */
static void build_served_sums(mst_trainer *trainer, mst_sharded_step *step) {
    enum { MOST = MST_NUM_SUMS(MST_MAX_METRICS) + 1 };
    const int num_sums = MST_NUM_SUMS(trainer->num_metrics);
    mst_value variable[MOST];
    mst_join_kind how[MOST];
    int from[MOST], count = num_sums;
    char name[128];
    if (!step->values.num_leaves || !step->values.reported) return; /* the graph has an error */
    for (int i = 0; i < num_sums; i++) {
        sum_name(trainer, folder_of(trainer), i, name);
        variable[i] = sum_variable(trainer->graph, name, step->values.reported[i]);
        how[i] = MST_JOIN_ADD;
        from[i] = i;
        if (keeps_sums_of_epoch(trainer)) step->fetch[step->num_fetches++] = variable[i];
    }
    if (keeps_sums_of_epoch(trainer)) {
        from[count] = num_sums - 2;
        variable[count] = sum_variable(trainer->graph, STEP_LOSS, step->values.reported[from[count]]);
        how[count++] = MST_JOIN_SUM;
    }
    append_variables(trainer->graph, &step->values, variable, how, from, count, num_sums);
}

static mst_value position_build(mst_trainer *trainer, mst_sharded_step *step) {
    mst_graph *graph = trainer->graph;
    if (!keeps_sums_of_epoch(trainer)) build_sums(trainer, step);
    if (trainer->rules.counts_others) build_served_sums(trainer, step);
    const mst_value counted = count_up(graph, BATCH);
    if (!trainer->options.task) return counted;
    return mst_group((const mst_value[]){counted, count_up(graph, NUMBER)}, 2);
}

mst_value mst_position_build(mst_trainer *trainer, mst_sharded_step *step) {
    mst_value counted = MST_NONE;
    mst_with_soft_device (trainer->graph, trainer->devices[0])
        mst_with_host (trainer->graph, mst_strategy_compiles(&trainer->strategy))
            mst_with_name (trainer->graph, "fit") counted = position_build(trainer, step);
    return counted;
}

/* ---- in the store ---- */

/* Reads the entry NAME, of 8 bytes. *OUT does not change if there is none; FOUND may be NULL. */
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
        status = mst_store_get(trainer->model->store, NULL, sum_name(trainer, folder_of(trainer), i, name), &out[i]);
    for (int i = 0; status && i < count; i++) {
        mst_tensor_release(out[i]);
        out[i] = NULL;
    }
    return status;
}

mst_status mst_position_step_loss(const mst_trainer *trainer, double examples, double *loss) {
    double sum = 0;
    MST_TRY(get_number(trainer->model->store, STEP_LOSS, &sum, NULL));
    *loss = sum / examples;
    if (mst_value_spec(trainer->train.values.loss).dtype == MST_F32) *loss = (double)(float)*loss;
    return MST_OK;
}

static mst_status add_number(mst_snapshot *changes, const char *name, mst_dtype dtype, mst_state_kind kind,
                             const void *number) {
    mst_tensor *value;
    MST_TRY(mst_tensor_copy(dtype, MST_SCALAR, number, &value));
    const mst_status status = mst_snapshot_add(changes, NULL, name, kind, value);
    mst_tensor_release(value);
    return status;
}

/* Adds the entries that only tasks of a cluster have: the number of changes of the state, the rate of the epoch, and
 * the row of the epoch before. */
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
        if (list[i].kind == MST_STATE_METRIC && strncmp(list[i].name, OWN, strlen(OWN)) == 0)
            status = add_zeros(changes, &list[i]);
    free(list);
    return status;
}

/* Whether sums are set to 0: not within an epoch whose sums parameter servers keep. */
static bool begins_sums(const mst_trainer *trainer, const mst_position *position) {
    return position->batch == 0 || !keeps_sums_of_epoch(trainer);
}

mst_status mst_position_clear_sums(mst_trainer *trainer) {
    mst_snapshot *changes;
    MST_TRY(mst_snapshot_create(&changes));
    mst_status status = add_zero_sums(changes, trainer->model->store);
    if (!status) status = mst_store_restore(trainer->model->store, changes);
    mst_snapshot_release(changes);
    return status;
}

mst_status mst_position_begin_epoch(mst_trainer *trainer, const mst_position *position, const mst_train_state *ended) {
    mst_snapshot *changes;
    MST_TRY(mst_snapshot_create(&changes));
    mst_status status = begins_sums(trainer, position) ? add_zero_sums(changes, trainer->model->store) : MST_OK;
    for (int i = 0; i < NUM_PLACES && !status; i++)
        status =
            add_number(changes, places[i].name, MST_I64, places[i].kind, (const char *)position + places[i].offset);
    if (trainer->options.task && !status) status = add_of_cluster(changes, trainer->model->store, position, ended);
    /* restored in one turn, so that no snapshot has only some of the changes */
    if (!status) status = mst_store_restore(trainer->model->store, changes);
    mst_snapshot_release(changes);
    return status;
}
