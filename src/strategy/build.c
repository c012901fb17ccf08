/* Builds the step of all shards in a graph:
 *
 *      for each shard: a name scope on the device that the strategy gives it, in it the replica's function
 *      gradients of (sum of the shard's losses / number of examples of all shards), for each shard
 *      one update from all gradients (apply.c)
 *      updates that the replicas ask for, such as moving statistics, joined over the shards
 *      what is reported: loss, metrics, penalty, examples
 *
 * The gradients of the shards add up to that of the mean over the global batch, also where batches are partial. A
 * shard takes its random seeds from its number and not from its scope, so each strategy draws the same numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "graph/graph.h"
#include "muster/ops.h"
#include "strategy/apply.h"
#include "strategy/penalty.h"
#include "strategy/strategy.h"

typedef struct builder {
    mst_graph *graph;
    const mst_strategy *strategy;
    const mst_strategy_form *form;
    mst_replica *replicas; /* [num_shards] */
    mst_value *loss_sums;  /* [num_shards] */
} builder;

static void build_replica(builder *b, int s, mst_replica_function replica, void *context) {
    mst_graph *graph = b->graph;
    char device[64], scope[64];
    snprintf(scope, sizeof scope, "%s_%d", b->form->scope, s);
    mst_with_device (graph, mst_strategy_device(b->strategy, s, device, sizeof device))
        mst_with_name (graph, scope) {
            graph->current.reuse = MST_REUSE_AUTO; /* restored with the scope */
            mst_seed_scope(graph, (uint64_t)s);    /* a shard draws the same under each strategy */
            replica(context, graph, s, &b->replicas[s]);
            b->loss_sums[s] = mst_reduce_sum(b->replicas[s].loss);
        }
}

/* ---- how variables are kept ---- */

/* "/device:CPU:0,/device:CPU:1" of all devices of the strategy; NULL where memory runs out. */
static char *list_devices(const mst_strategy *strategy) {
    char text[64], *list = NULL;
    size_t used = 0;
    for (int i = 0; i < strategy->num_devices; i++) {
        const char *name = mst_strategy_device_name(strategy, i, text, sizeof text);
        char *longer = realloc(list, used + strlen(name) + 2);
        if (!longer) {
            free(list);
            return NULL;
        }
        list = longer;
        used += (size_t)sprintf(list + used, "%s%s", i ? "," : "", name);
    }
    return list;
}

/* The variables that the replicas have made, from number FIRST on, are mirrored over all devices. */
static void mirror_variables(builder *b, int first) {
    const int count = mst_collection(b->graph, MST_VARIABLES, NULL, NULL, 0);
    mst_value *variables = calloc((size_t)count + 1, sizeof *variables);
    char *devices = list_devices(b->strategy);
    if (!variables || !devices) MST_VALUE_NO_MEMORY(b->graph, "for a step");
    mst_collection(b->graph, MST_VARIABLES, NULL, variables, variables ? count : 0);
    for (int v = first; v < count && variables && devices; v++) mst_variable_mirror(variables[v], devices);
    free(variables);
    free(devices);
}

/* ---- updates of statistics ---- */

void mst_replica_update(mst_replica *replica, mst_value variable, mst_value value, mst_join_kind join) {
    if (MST_IS_NULL(replica)) return;
    enum { STEP = 16 };
    mst_graph *graph = mst_value_graph(variable);
    if (!mst_is_variable(variable)) {
        mst_value_fail(graph, MST_INVALID, "replica: the update of '%s', which is no variable",
                       mst_value_name(variable));
        return;
    }
    if (replica->num_updates % STEP == 0) { /* lives as long as the graph */
        mst_state_update *longer =
            mst_arena_alloc(&graph->arena, (size_t)(replica->num_updates + STEP) * sizeof *longer);
        if (!longer) {
            MST_VALUE_NO_MEMORY(graph, "for a step");
            return;
        }
        if (replica->num_updates) memcpy(longer, replica->updates, (size_t)replica->num_updates * sizeof *longer);
        replica->updates = longer;
    }
    replica->updates[replica->num_updates++] = (mst_state_update){variable, value, join};
}

static mst_value join_values(builder *b, const mst_state_update *update, mst_value *values) {
    const mst_variable_options *o = mst_node_options(update->variable.node);
    const int shards = b->strategy->num_shards;
    const mst_join_kind join = update->join ? update->join : o->join ? (mst_join_kind)o->join : MST_JOIN_MEAN;
    if (join == MST_JOIN_FIRST || shards == 1) return values[0];
    const mst_value sum = mst_add_n(values, shards);
    if (join == MST_JOIN_SUM) return sum;
    return mst_div(sum, mst_scalar(b->graph, mst_value_spec(sum).dtype, shards));
}

/* Groups TRAIN with the updates that the replicas ask for. */
static mst_value add_updates(builder *b, mst_value train) {
    const int shards = b->strategy->num_shards, count = b->replicas[0].num_updates;
    if (count == 0) return train;
    mst_value *values = calloc((size_t)shards, sizeof *values), *all = calloc((size_t)count + 1, sizeof *all);
    if (!values || !all) {
        free(values);
        free(all);
        return MST_VALUE_NO_MEMORY(b->graph, "for a step");
    }
    bool alike = true;
    for (int k = 0; k < count && alike; k++) {
        const mst_state_update *first = &b->replicas[0].updates[k];
        for (int s = 0; s < shards && alike; s++) {
            alike = b->replicas[s].num_updates == count &&
                    mst_value_equal(b->replicas[s].updates[k].variable, first->variable);
            if (alike) values[s] = b->replicas[s].updates[k].value;
        }
        if (alike) all[k] = mst_assign(first->variable, join_values(b, first, values));
    }
    all[count] = train;
    train = alike ? mst_group(all, count + 1)
                  : mst_value_fail(b->graph, MST_INVALID,
                                   "strategy: the replicas do not update the same variables in the same order");
    free(values);
    free(all);
    return train;
}

/* ---- what is reported ---- */

static mst_value sum_over_shards(builder *b, mst_value *values) {
    return b->strategy->num_shards > 1 ? mst_add_n(values, b->strategy->num_shards) : values[0];
}

static void report(builder *b, mst_step_values *out, mst_value penalty) {
    int shards = b->strategy->num_shards;
    mst_value *terms = calloc((size_t)shards + 1, sizeof *terms);
    if (!terms) {
        MST_VALUE_NO_MEMORY(b->graph, "for a step");
        return;
    }
    out->loss = mst_div(sum_over_shards(b, b->loss_sums), out->num_examples);
    if (!mst_value_is_none(penalty)) out->loss = mst_add(out->loss, penalty);
    out->num_metrics = b->replicas[0].num_metrics;
    for (int m = 0; m < out->num_metrics; m++) {
        for (int s = 0; s < shards; s++) terms[s] = b->replicas[s].metric_sum[m];
        out->metric_sum[m] = sum_over_shards(b, terms);
        for (int s = 0; s < shards; s++) terms[s] = b->replicas[s].metric_count[m];
        out->metric_count[m] = sum_over_shards(b, terms);
    }
    free(terms);
}

static mst_value count_examples(builder *b) {
    int shards = b->strategy->num_shards;
    mst_value *counts = calloc((size_t)shards + 1, sizeof *counts);
    if (!counts) return MST_VALUE_NO_MEMORY(b->graph, "for a step");
    for (int s = 0; s < shards; s++)
        counts[s] = mst_dim_size(b->replicas[s].loss, 0, mst_value_spec(b->replicas[s].loss).dtype);
    mst_value count = sum_over_shards(b, counts);
    free(counts);
    return count;
}

/* Fills the gradients of each shard, of sum of losses / number of examples of all shards: added up they are the
 * gradient of the mean over the global batch. */
static void differentiate(builder *b, mst_value num_examples, const mst_value *variables, int n, mst_value *gradients) {
    mst_value one = mst_ones_like(b->loss_sums[0]);
    for (int s = 0; s < b->strategy->num_shards; s++) {
        char device[64], scope[64];
        snprintf(scope, sizeof scope, "%s_%d", b->form->scope, s);
        mst_name_scope_enter(b->graph, scope);
        mst_with_device (b->graph, mst_strategy_device(b->strategy, s, device, sizeof device))
            mst_gradients_from(b->loss_sums[s], mst_div(one, num_examples), variables, n, &gradients[s * n]);
        mst_name_scope_pop(b->graph);
    }
}

static void build_update(builder *b, const mst_optimizer *optimizer, mst_step_values *out, mst_value *penalty) {
    mst_graph *graph = b->graph;
    const int shards = b->strategy->num_shards, count = mst_collection(graph, MST_TRAINABLE, NULL, NULL, 0);
    mst_value *variables = calloc((size_t)count + 1, sizeof *variables);
    mst_value *gradients = calloc((size_t)shards * (size_t)count + 1, sizeof *gradients);
    mst_optimizer resolved;
    if (!variables || !gradients) {
        MST_VALUE_NO_MEMORY(graph, "for gradients");
    } else if (mst_resolve_optimizer(graph, optimizer, &resolved)) {
        int used = 0;
        mst_collection(graph, MST_TRAINABLE, NULL, variables, count);
        differentiate(b, out->num_examples, variables, count, gradients);
        /* variables that the loss does not depend on are left alone */
        for (int v = 0; v < count; v++) {
            if (mst_value_is_none(gradients[v])) continue;
            for (int s = 0; s < shards; s++) gradients[s * count + used] = gradients[s * count + v];
            variables[used++] = variables[v];
        }
        for (int s = 1; s < shards; s++)
            for (int v = 0; v < used; v++) gradients[s * used + v] = gradients[s * count + v];
        const mst_update update = {.graph = graph,
                                   .optimizer = &resolved,
                                   .num_variables = used,
                                   .num_shards = shards,
                                   .variables = variables,
                                   .gradients = gradients,
                                   .global_step = out->global_step};
        mst_update_values values;
        mst_build_update(&update, &values);
        out->train = add_updates(b, values.train);
        out->learning_rate = values.learning_rate;
        *penalty = values.penalty;
    }
    free(variables);
    free(gradients);
}

void mst_strategy_build(mst_graph *graph, const mst_strategy *strategy, const mst_optimizer *optimizer,
                        mst_replica_function replica, void *context, mst_step_values *out) {
    if (MST_IS_NULL(graph) || MST_IS_NULL_IN(graph, strategy) || MST_IS_NULL_IN(graph, replica) ||
        MST_IS_NULL_IN(graph, out))
        return;
    *out = (mst_step_values){0};
    mst_strategy resolved = *strategy;
    if (mst_strategy_resolve(&resolved)) {
        mst_graph_keep_error(graph);
        return;
    }
    builder b = {.graph = graph, .strategy = &resolved, .form = mst_strategy_form_of(&resolved)};
    b.replicas = calloc((size_t)resolved.num_shards, sizeof *b.replicas);
    b.loss_sums = calloc((size_t)resolved.num_shards + 1, sizeof *b.loss_sums);
    if (b.replicas && b.loss_sums) {
        const int before = mst_collection(graph, MST_VARIABLES, NULL, NULL, 0);
        char first[64];
        for (int s = 0; s < resolved.num_shards; s++) build_replica(&b, s, replica, context);
        if (b.form->mirrored) mirror_variables(&b, before);
        mst_value penalty = MST_NONE;
        mst_with_device (graph, mst_strategy_device_name(&resolved, 0, first, sizeof first)) {
            out->num_examples = count_examples(&b);
            out->global_step = mst_global_step(graph);
            if (optimizer)
                build_update(&b, optimizer, out, &penalty);
            else
                penalty = mst_penalties(graph);
            report(&b, out, penalty);
        }
    } else {
        MST_VALUE_NO_MEMORY(graph, "for a step");
    }
    free(b.replicas);
    free(b.loss_sums);
}
