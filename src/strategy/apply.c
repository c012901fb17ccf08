/* Builds the update of variables in the graph. The slots, the moving average and (for bf16) the f32 master of each
 * variable are variables of their own. One apply_gradients node has all of them as sources, and the gradients of every
 * shard. The plan decides later which device updates what (plan/update_lowering.c).
 *
 * The node does not count steps: another node of the same step raises global_step. The slots and rates of a second
 * update in the same graph get names with a suffix. A moving average is shared by all updates of its variable. */
#include "strategy/apply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "graph/graph.h"
#include "muster/ops.h"
#include "muster/store.h"
#include "op/list.h"
#include "op/state/apply_gradients.h"
#include "op/state/state_parts.h"
#include "op/state/variable.h"
#include "rule/accumulate.h"
#include "rule/rule.h"
#include "store/store.h"
#include "strategy/penalty.h"
#include "strategy/weight_copies.h"

bool mst_resolve_optimizer(mst_graph *graph, const mst_optimizer *optimizer, mst_optimizer *out) {
    *out = mst_optimizer_named(optimizer->rule ? optimizer->rule : "sgd", *optimizer);
    if (!mst_optimizer_check(out)) return true;
    mst_graph_keep_error(graph);
    return false;
}

/* Returns BASE, or BASE_1, BASE_2, ... if that name is taken: several updates in one graph have slots and rates of
 * their own. The caller frees the name. NULL: memory runs out. */
static char *free_name(const mst_graph *graph, const char *base) {
    char *name = strdup(base);
    for (int i = 1; name && mst_graph_find(graph, name); i++) {
        free(name);
        if (asprintf(&name, "%s_%d", base, i) < 0) name = NULL;
    }
    return name;
}

/* Makes a variable that belongs to another one, such as a slot or an average. */
static mst_value beside(mst_value variable, const char *suffix, mst_value initial, mst_state_kind kind) {
    mst_graph *graph = variable.node->graph;
    char *base = NULL;
    if (asprintf(&base, "%s/%s", mst_value_name(variable), suffix) < 0) base = NULL;
    char *name = base ? free_name(graph, base) : NULL;
    free(base);
    if (!name) return MST_VALUE_NO_MEMORY(graph, "for an update");
    const mst_variable_options *o = mst_node_options(variable.node);
    mst_value slot = MST_NONE;
    mst_with_device (graph, NULL) /* a variable without a device must not get the update's device */
        mst_with_device (graph, variable.node->device)
            slot = mst_variable(graph, name, initial, .not_trainable = true, .hidden = true, .kind = (int)kind,
                                .container = o->container);
    free(name);
    return slot;
}

static mst_value scalar_variable(mst_graph *graph, const char *base, mst_dtype dtype, double value,
                                 mst_state_kind kind) {
    char *name = free_name(graph, base);
    if (!name) return MST_VALUE_NO_MEMORY(graph, "for an update");
    mst_name_scope_enter(graph, mst_name_scope(graph));
    mst_control_clear(graph);
    mst_value variable = mst_variable(graph, name, mst_scalar(graph, dtype, value), .not_trainable = true,
                                      .hidden = true, .kind = (int)kind);
    mst_name_scope_pop(graph);
    free(name);
    return variable;
}

mst_value mst_global_step(mst_graph *graph) {
    if (MST_IS_NULL(graph)) return MST_NONE;
    mst_value step;
    if (mst_collection(graph, MST_STATE_GLOBAL_STEP, NULL, &step, 1)) return step;
    step = scalar_variable(graph, MST_STATE_GLOBAL_STEP, MST_I64, 0, MST_STATE_STEP);
    mst_collect(graph, MST_STATE_GLOBAL_STEP, step);
    return step;
}

mst_value mst_moving_average(mst_value variable) {
    if (!mst_is_variable(variable)) return MST_NONE;
    const mst_variable_options *o = mst_node_options(variable.node);
    mst_node *node = o->average ? mst_graph_find(variable.node->graph, o->average) : NULL;
    return node ? (mst_value){.node = node} : MST_NONE;
}

/* The value of VARIABLE in DTYPE, with which its average and its master copy begin: its initial value, or what was
 * loaded or set before the first step. */
static mst_value value_in_dtype(mst_value variable, mst_dtype dtype) {
    return mst_value_spec(variable).dtype == dtype ? variable : mst_cast(variable, dtype);
}

/* The moving average of VARIABLE, of DTYPE. The first update of the variable makes it, and the others share it. */
static mst_value average_of(mst_value variable, mst_dtype dtype) {
    mst_value average = mst_moving_average(variable);
    if (!mst_value_is_none(average)) return average;
    average = beside(variable, MST_COPY_AVERAGE, value_in_dtype(variable, dtype), MST_STATE_AVERAGE);
    mst_variable_set_average(variable, average);
    return average;
}

/* The parts into which the slots of each variable are cut. NULL: the slots are whole; or memory runs out, and the graph
 * then has an error. */
static int64_t *find_parts(const mst_update *u, const mst_apply_options *o) {
    if (!o->num_parts) return NULL;
    mst_shape *shape = malloc((size_t)u->num_variables * sizeof *shape);
    int64_t *parts = malloc((size_t)u->num_variables * ((size_t)o->num_parts + 1) * sizeof *parts);
    for (int v = 0; shape && v < u->num_variables; v++) shape[v] = mst_value_spec(u->variables[v]).shape;
    const mst_dtype dtype = o->masters ? MST_F32 : mst_value_spec(u->variables[0]).dtype;
    if (shape && parts)
        mst_state_parts(shape, u->num_variables, (int64_t)mst_dtype_size(dtype), o->num_parts, parts);
    else
        MST_VALUE_NO_MEMORY(u->graph, "for an update");
    free(shape);
    return parts;
}

/* Lists the sources of one variable: itself, its slots, average and master, and its gradient of each shard. */
static int add_variable(const mst_update *u, const mst_apply_options *o, const int64_t *parts, int v, mst_value *src) {
    const mst_value variable = u->variables[v];
    const mst_spec spec = mst_value_spec(variable);
    const mst_dtype dtype = o->masters ? MST_F32 : spec.dtype; /* dtype in which the update computes */
    int n = 0;
    src[n++] = variable;
    mst_shape shape = spec.shape;
    int64_t first;
    if (parts) shape = mst_shape_make(1, (const int64_t[]){mst_apply_own(o, parts, v, &first)});
    for (int k = 0; k < o->num_slots; k++) {
        double initial;
        const char *suffix = mst_apply_slot(o, k, &initial);
        src[n++] = beside(variable, suffix, mst_fill(u->graph, dtype, shape, initial), MST_STATE_SLOT);
    }
    if (o->averages) src[n++] = average_of(variable, dtype);
    if (o->masters) src[n++] = beside(variable, MST_COPY_MASTER, value_in_dtype(variable, dtype), MST_STATE_SLOT);
    for (int s = 0; s < u->window.count; s++) src[n++] = u->gradients[s * u->num_variables + v];
    return n;
}

static mst_value apply(const mst_update *u, mst_value learning_rate) {
    const mst_rule *rule = mst_rule_find(u->optimizer->rule);
    const mst_apply_options options = {
        .optimizer = *u->optimizer,
        .num_variables = u->num_variables,
        .num_slots = rule->num_slots(u->optimizer) + (mst_accumulates(u->optimizer) ? 1 : 0),
        .num_shards = u->num_shards,
        .first_shard = u->window.first,
        .num_gradients = u->window.count,
        .averages = u->optimizer->ema_decay > 0,
        .masters = mst_value_spec(u->variables[0]).dtype == MST_BF16,
        .num_parts = u->num_parts,
        .part = u->part};
    char name[96];
    if ((int64_t)u->num_variables * mst_apply_per_variable(&options) > INT32_MAX - MST_APPLY_FIRST)
        return mst_value_fail(u->graph, MST_INVALID, "update: %d variables over %d shards are too many for one update",
                              u->num_variables, u->window.count);
    mst_value *src = malloc(((size_t)mst_apply_source(&options, u->num_variables) + 1) * sizeof *src);
    if (!src) return MST_VALUE_NO_MEMORY(u->graph, "for an update");
    int n = MST_APPLY_FIRST;
    mst_name_scope_enter(u->graph, mst_name_scope(u->graph));
    mst_control_clear(u->graph);
    snprintf(name, sizeof name, "%s/state", rule->name);
    src[MST_APPLY_LEARNING_RATE] = learning_rate;
    src[MST_APPLY_STEP] = u->global_step;
    src[MST_APPLY_STATE] = rule->next_state
                               ? scalar_variable(u->graph, name, MST_F64, rule->initial_state, MST_STATE_RULE)
                               : mst_scalar(u->graph, MST_F64, 0);
    int64_t *parts = find_parts(u, &options);
    for (int v = 0; v < u->num_variables; v++) n += add_variable(u, &options, parts, v, src + n);
    free(parts);
    snprintf(name, sizeof name, "%s/accumulated", rule->name);
    if (mst_apply_accumulated(&options) >= 0) src[n++] = scalar_variable(u->graph, name, MST_I64, 0, MST_STATE_RULE);
    mst_name_scope_pop(u->graph);
    const mst_value applied = mst_call(u->graph, &mst_op_apply_gradients, n, src, &options);
    free(src);
    return applied;
}

static void apply_build(const mst_update *u, mst_update_values *out) {
    mst_with_host (u->graph, u->numbers_on_host)
        out->learning_rate =
            mst_schedule_is_set(&u->optimizer->schedule)
                ? mst_schedule_value(u->graph, &u->optimizer->schedule, u->global_step)
                : scalar_variable(u->graph, "learning_rate", MST_F32, u->optimizer->learning_rate, MST_STATE_RATE);
    const mst_value applied = apply(u, out->learning_rate);
    for (int v = 0; v < u->num_variables && mst_value_is_none(out->penalty); v++)
        if (mst_has_penalty(u->variables[v])) out->penalty = applied;
    const mst_value counted = mst_assign_add(u->global_step, mst_scalar(u->graph, MST_I64, 1));
    out->train = mst_group((const mst_value[]){applied, counted}, 2);
}

static int by_node(const void *a, const void *b) {
    const int64_t x = (*(const mst_value *)a).node->id, y = (*(const mst_value *)b).node->id;
    return (x > y) - (x < y);
}

/* Whether the sources are variables of one dtype, each listed once. If not, sets an error on the graph. */
static bool check_variables(const mst_update *u) {
    const mst_dtype dtype = mst_value_spec(u->variables[0]).dtype;
    for (int v = 0; v < u->num_variables; v++) {
        if (mst_is_variable(u->variables[v]) && mst_value_spec(u->variables[v]).dtype == dtype) continue;
        mst_value_fail(u->graph, MST_INVALID, "update: '%s' is no variable, or its dtype is not that of '%s'",
                       mst_value_name(u->variables[v]), mst_value_name(u->variables[0]));
        return false;
    }
    mst_value *sorted = malloc((size_t)u->num_variables * sizeof *sorted);
    if (!sorted) {
        MST_VALUE_NO_MEMORY(u->graph, "for an update");
        return false;
    }
    memcpy(sorted, u->variables, (size_t)u->num_variables * sizeof *sorted);
    qsort(sorted, (size_t)u->num_variables, sizeof *sorted, by_node);
    bool once = true;
    for (int v = 1; v < u->num_variables && once; v++) {
        once = sorted[v].node != sorted[v - 1].node;
        if (!once)
            mst_value_fail(u->graph, MST_INVALID,
                           "update: variable '%s' is listed twice: add its gradients up and list it once",
                           mst_value_name(sorted[v]));
    }
    free(sorted);
    return once;
}

void mst_build_update(const mst_update *update, mst_update_values *out) {
    *out = (mst_update_values){.train = mst_graph_error_value(update->graph)};
    if (update->num_variables == 0) {
        mst_value_fail(update->graph, MST_INVALID,
                       "update: the loss depends on no trainable variable: do not freeze all layers");
        return;
    }
    if (!check_variables(update)) return;
    mst_update whole = *update;
    if (whole.window.count == 0) whole.window.count = whole.num_shards;
    mst_with_name (update->graph, "update") apply_build(&whole, out);
}
