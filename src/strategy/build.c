/* The step of all shards: replicas, gradients, update, and what is reported. */
#include <stdio.h>
#include <stdlib.h>

#include "graph/graph.h"
#include "muster/ops.h"
#include "strategy/apply.h"
#include "strategy/type.h"

typedef struct builder {
    mst_graph *graph;
    const mst_strategy *strategy;
    const mst_strategy_type *type;
    mst_replica *replicas; /* [num_shards] */
    mst_value *loss_sums;  /* [num_shards] */
} builder;

static void build_replica(builder *b, int s, mst_replica_function replica, void *context) {
    mst_graph *graph = b->graph;
    char device[64], scope[64];
    mst_strategy_device(b->strategy, s, device, sizeof device);
    snprintf(scope, sizeof scope, "%s_%d", b->type->scope, s);
    mst_with_device (graph, device)
        mst_with_name (graph, scope) {
            graph->current.reuse = MST_REUSE_AUTO; /* all of these are restored with the scope */
            graph->current.shard_prefix = graph->current.name_prefix;
            graph->current.shard = s;
            if (b->type->mirrored) graph->current.mirror = b->type->device(b->strategy, s);
            replica(context, graph, s, &b->replicas[s]);
            b->loss_sums[s] = mst_reduce_sum(b->replicas[s].loss);
        }
}

static mst_value sum_over_shards(builder *b, mst_value *values) {
    return b->strategy->num_shards > 1 ? mst_add_n(values, b->strategy->num_shards) : values[0];
}

static void report(builder *b, mst_step_values *out, mst_value penalty) {
    int shards = b->strategy->num_shards;
    mst_value *terms = calloc((size_t)shards + 1, sizeof *terms);
    if (!terms) {
        mst_value_fail(b->graph, MST_OUT_OF_MEMORY, "cannot get memory for a step");
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
    if (!counts) return mst_value_fail(b->graph, MST_OUT_OF_MEMORY, "cannot get memory for a step");
    for (int s = 0; s < shards; s++)
        counts[s] = mst_dim_size(b->replicas[s].loss, 0, mst_value_spec(b->replicas[s].loss).dtype);
    mst_value count = sum_over_shards(b, counts);
    free(counts);
    return count;
}

/* d (sum of losses / number of examples) of each shard, by the copies of the variables on its device. */
static bool differentiate(builder *b, mst_value num_examples, const mst_value *variables, int n, mst_value *gradients) {
    mst_value one = mst_ones_like(b->loss_sums[0]);
    mst_value *copies = malloc(((size_t)n + 1) * sizeof *copies);
    if (!copies) {
        mst_value_fail(b->graph, MST_OUT_OF_MEMORY, "cannot get memory for gradients");
        return false;
    }
    for (int s = 0; s < b->strategy->num_shards; s++) {
        char device[64], scope[64];
        int mirror = b->type->mirrored ? b->type->device(b->strategy, s) : 0;
        mst_strategy_device(b->strategy, s, device, sizeof device);
        snprintf(scope, sizeof scope, "%s_%d", b->type->scope, s);
        for (int v = 0; v < n; v++) copies[v] = mst_mirror(variables[v], mirror);
        mst_name_scope_enter(b->graph, scope);
        mst_with_device (b->graph, device)
            mst_gradients_from(b->loss_sums[s], mst_div(one, num_examples), copies, n, &gradients[s * n]);
        mst_name_scope_pop(b->graph);
    }
    free(copies);
    return true;
}

static void build_update(builder *b, const mst_optimizer *optimizer, mst_step_values *out, mst_value *penalty) {
    mst_graph *graph = b->graph;
    int shards = b->strategy->num_shards, count = mst_collection(graph, MST_TRAINABLE, NULL, NULL, 0), used = 0;
    mst_value *variables = calloc((size_t)count + 1, sizeof *variables);
    mst_value *gradients = calloc((size_t)(shards * count) + 1, sizeof *gradients);
    if (variables && gradients) {
        mst_collection(graph, MST_TRAINABLE, NULL, variables, count);
        if (differentiate(b, out->num_examples, variables, count, gradients)) {
            /* variables that the loss does not depend on are left alone */
            for (int v = 0; v < count; v++) {
                if (mst_value_is_none(gradients[v])) continue;
                for (int s = 0; s < shards; s++) gradients[s * count + used] = gradients[s * count + v];
                variables[used++] = variables[v];
            }
            for (int s = 1; s < shards; s++)
                for (int v = 0; v < used; v++) gradients[s * used + v] = gradients[s * count + v];
            mst_update update = {.graph = graph,
                                 .optimizer = mst_keep_optimizer(graph, optimizer),
                                 .num_variables = used,
                                 .num_shards = shards,
                                 .num_copies = b->type->mirrored ? b->strategy->num_devices : 1,
                                 .variables = variables,
                                 .gradients = gradients,
                                 .global_step = out->global_step};
            mst_update_values values;
            mst_build_update(&update, &values);
            out->train = values.train;
            out->learning_rate = values.learning_rate;
            *penalty = values.penalty;
        }
    } else {
        mst_value_fail(graph, MST_OUT_OF_MEMORY, "cannot get memory for gradients");
    }
    free(variables);
    free(gradients);
}

/* What the penalties of the variables add to the loss, where no update computes it on the way. */
static mst_value penalties(mst_graph *graph) {
    int count = mst_collection(graph, MST_TRAINABLE, NULL, NULL, 0);
    mst_value sum = MST_NONE, *variables = calloc((size_t)count + 1, sizeof *variables);
    if (!variables) return mst_value_fail(graph, MST_OUT_OF_MEMORY, "cannot get memory for penalties");
    mst_collection(graph, MST_TRAINABLE, NULL, variables, count);
    for (int v = 0; v < count; v++) {
        float l1, l2;
        mst_variable_penalty(variables[v], &l1, &l2);
        mst_value terms[3] = {sum};
        int n = mst_value_is_none(sum) ? 0 : 1;
        if (l2 != 0) terms[n++] = mst_scale(mst_l2_loss(variables[v]), (double)l2);
        if (l1 != 0) terms[n++] = mst_scale(mst_reduce_sum(mst_abs(variables[v])), (double)l1);
        if (n > 0) sum = n > 1 ? mst_add_n(terms, n) : terms[0];
    }
    free(variables);
    return sum;
}

void mst_strategy_build(mst_graph *graph, const mst_strategy *strategy, const mst_optimizer *optimizer,
                        mst_replica_function replica, void *context, mst_step_values *out) {
    *out = (mst_step_values){0};
    mst_strategy resolved = *strategy;
    if (mst_strategy_resolve(&resolved)) {
        mst_graph_stick(graph);
        return;
    }
    builder b = {.graph = graph, .strategy = &resolved, .type = mst_strategy_type_of(&resolved)};
    b.replicas = calloc((size_t)resolved.num_shards, sizeof *b.replicas);
    b.loss_sums = calloc((size_t)resolved.num_shards + 1, sizeof *b.loss_sums);
    if (b.replicas && b.loss_sums) {
        for (int s = 0; s < resolved.num_shards; s++) build_replica(&b, s, replica, context);
        mst_value penalty = MST_NONE;
        mst_with_device (graph, "/device:CPU:0") {
            out->num_examples = count_examples(&b);
            out->global_step = mst_global_step(graph);
            if (optimizer)
                build_update(&b, optimizer, out, &penalty);
            else
                penalty = penalties(graph);
            report(&b, out, penalty);
        }
    } else {
        mst_value_fail(graph, MST_OUT_OF_MEMORY, "cannot get memory for a step");
    }
    free(b.replicas);
    free(b.loss_sums);
}
