/* Builds the step of all shards in a graph:
 *
 *      for each shard: a name scope on the shard's device, and in it what the replica's function builds
 *      for each shard: gradients of (sum of the shard's losses / number of examples of all shards)
 *      one update from all gradients (apply.c)
 *      updates that the replicas ask for, such as moving statistics, joined over the shards
 *      what is reported: loss, metrics, penalty, examples
 *
 * The gradients of the shards add up to the gradient of the mean over the global batch, even if the batch is partial. A
 * shard derives its random seeds from its number, not from its scope, so all strategies draw the same numbers.
 *
 * In a cluster each task builds the shards of its own window, and sums are over the shards of all tasks.
 *
 * If the devices compile, the numbers of the step are computed on the host: the reported values, the number of
 * examples, global_step and the learning rate. Otherwise they are computed on the first device, like the nodes that
 * work on weights. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "graph/graph.h"
#include "muster/ops.h"
#include "op/elementwise/sum_shards.h"
#include "strategy/apply.h"
#include "strategy/gradient_rows.h"
#include "strategy/penalty.h"
#include "strategy/strategy.h"

typedef struct builder {
    mst_graph *graph;
    const mst_strategy *strategy;
    const mst_strategy_form *form;
    bool on_host;              /* the numbers of the step are computed on the host */
    int first, count;          /* the first shard that is built in this process, and their number */
    mst_replica *replicas;     /* [count] */
    mst_value *loss_sums;      /* [count] */
    mst_replica_place *places; /* [count] */
} builder;

/* Adds the updates that layers have collected in the graph, from number FIRST on, to the replica. */
static void take_updates(mst_replica *replica, mst_graph *graph, int first) {
    const int count = mst_collection(graph, MST_UPDATES, NULL, NULL, 0);
    mst_value *pairs = calloc((size_t)count + 1, sizeof *pairs);
    if (!pairs) MST_VALUE_NO_MEMORY(graph, "for a step");
    mst_collection(graph, MST_UPDATES, NULL, pairs, pairs ? count : 0);
    for (int i = first; i + 1 < count && pairs; i += 2)
        mst_replica_update(replica, pairs[i], pairs[i + 1], MST_JOIN_DEFAULT);
    free(pairs);
}

/* Builds the replica with index I among those that are built here. */
static void build_replica(builder *b, int i, mst_replica_function replica, void *context) {
    mst_graph *graph = b->graph;
    const int shard = b->first + i;
    char device[64], scope[64];
    snprintf(scope, sizeof scope, "%s_%d", b->form->scope, shard);
    mst_with_soft_device (graph, mst_strategy_device(b->strategy, shard, device, sizeof device))
        mst_with_name (graph, scope) {
            graph->current.reuse = MST_REUSE_AUTO;  /* restored with the scope */
            mst_seed_scope(graph, (uint64_t)shard); /* a shard draws the same numbers under each strategy */
            graph->current.replica = &b->places[i];
            const int updates = mst_collection(graph, MST_UPDATES, NULL, NULL, 0);
            b->places[i].first_update = updates;
            replica(context, graph, shard, &b->replicas[i]);
            take_updates(&b->replicas[i], graph, updates);
            b->loss_sums[i] = mst_reduce_sum(b->replicas[i].loss);
        }
}

/* Tells the replicas where the shards are, for ops that sum over them while they are built. The numbers of these sums
 * begin above those used earlier in the graph. */
static void number_shards(builder *b) {
    for (int i = 0; i < b->count; i++)
        b->places[i] = b->form->apart ? (mst_replica_place){.shard = i, .num_shards = b->count, .window = {0, b->count}}
                                      : (mst_replica_place){.shard = b->first + i,
                                                            .num_shards = b->strategy->num_shards,
                                                            .window = {b->first, b->count}};
    for (int i = 0; i < b->count; i++) {
        b->places[i].next_sum = b->graph->num_nodes;
        b->places[i].is_apart = b->form->apart && b->strategy->synchronous && b->count < b->strategy->num_shards;
    }
}

/* ---- how variables are kept ---- */

/* Lists all devices of the strategy: "/device:CPU:0,/device:CPU:1". The caller frees it. NULL: memory runs out. */
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

/* Mirrors the variables that the replicas have made, those from number FIRST on, over all devices. */
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

/* ---- sums over shards ---- */

static mst_value sum_early_or_late(const mst_strategy *strategy, const mst_value *values, mst_sum_round round) {
    const mst_shards here = mst_strategy_window(strategy);
    if (here.count < strategy->num_shards && !mst_strategy_form_of(strategy)->apart)
        return mst_sum_shards(values, here, strategy->num_shards, round);
    return here.count > 1 ? mst_add_n(values, here.count) : values[0];
}

mst_value mst_strategy_sum(const mst_strategy *strategy, const mst_value *values) {
    return sum_early_or_late(strategy, values, MST_SUM_LATE);
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

/* Replaces the values of all shards except shard 0 by -0. Adding -0 to a value does not change its bits. */
static void keep_first(const builder *b, mst_value *values) {
    /* from 1 on in the task that has shard 0, else from 0 on */
    for (int i = b->first == 0; i < b->count; i++) values[i] = mst_scale(mst_zeros_like(values[i]), -1);
}

static mst_join_kind join_kind(const mst_state_update *update) {
    const mst_variable_options *o = mst_node_options(update->variable.node);
    return update->join ? update->join : o->join ? (mst_join_kind)o->join : MST_JOIN_MEAN;
}

static mst_value join_values(builder *b, const mst_state_update *update, mst_value *values) {
    const int shards = b->form->apart ? b->count : b->strategy->num_shards;
    const mst_join_kind join = join_kind(update);
    if (shards == 1 || (join == MST_JOIN_FIRST && b->count == shards)) return values[0];
    if (join == MST_JOIN_FIRST) keep_first(b, values);
    const mst_value sum = mst_strategy_sum(b->strategy, values);
    if (join != MST_JOIN_MEAN) return sum;
    return mst_div(sum, mst_scalar(b->graph, mst_value_spec(sum).dtype, shards));
}

/* Whether all replicas ask for updates of the same variables. If not, sets an error on the graph. */
static bool are_updates_alike(const builder *b) {
    const int count = b->replicas[0].num_updates;
    bool alike = true;
    for (int s = 1; s < b->count && alike; s++) {
        alike = b->replicas[s].num_updates == count;
        for (int k = 0; k < count && alike; k++)
            alike = mst_value_equal(b->replicas[s].updates[k].variable, b->replicas[0].updates[k].variable);
    }
    if (!alike)
        mst_value_fail(b->graph, MST_INVALID,
                       "strategy: the replicas do not update the same variables in the same order");
    return alike;
}

/* Groups TRAIN with the updates that the replicas ask for. */
static mst_value add_updates(builder *b, mst_value train) {
    const int count = b->replicas[0].num_updates;
    if (count == 0 || !are_updates_alike(b)) return train;
    mst_value *values = calloc((size_t)b->count, sizeof *values), *all = calloc((size_t)count + 1, sizeof *all);
    if (values && all) {
        for (int k = 0; k < count; k++) {
            const mst_state_update *first = &b->replicas[0].updates[k];
            for (int s = 0; s < b->count; s++) values[s] = b->replicas[s].updates[k].value;
            const mst_value joined = join_values(b, first, values);
            all[k] = (join_kind(first) == MST_JOIN_ADD ? mst_assign_add : mst_assign)(first->variable, joined);
        }
        all[count] = train;
        train = mst_group(all, count + 1);
    } else {
        train = MST_VALUE_NO_MEMORY(b->graph, "for a step");
    }
    free(values);
    free(all);
    return train;
}

/* ---- reported values ---- */

static mst_value count_examples(builder *b) {
    mst_value *counts = calloc((size_t)b->count + 1, sizeof *counts);
    if (!counts) return MST_VALUE_NO_MEMORY(b->graph, "for a step");
    for (int s = 0; s < b->count; s++)
        counts[s] = mst_dim_size(b->replicas[s].loss, 0, mst_value_spec(b->replicas[s].loss).dtype);
    mst_value count = sum_early_or_late(b->strategy, counts, MST_SUM_EARLY);
    free(counts);
    return count;
}

/* Adds the K-th counted losses of all shards to their loss sums, as if they were divided by the number of examples. */
static void add_counted_losses(builder *b, int k, mst_value num_examples, mst_value *counts) {
    mst_value part = MST_NONE;
    for (int s = 0; s < b->count; s++) counts[s] = mst_reduce_sum(b->replicas[s].counted[k].counted);
    mst_with_host (b->graph, b->on_host) {
        const mst_value all = sum_early_or_late(b->strategy, counts, MST_SUM_EARLY);
        const mst_value one = mst_ones_like(all), none = mst_equal(all, mst_zeros_like(all));
        /* a batch with a count of 0 has the loss 0 */
        part = mst_div(num_examples, mst_select(none, one, all));
    }
    for (int s = 0; s < b->count; s++) {
        char device[64], scope[64];
        snprintf(scope, sizeof scope, "%s_%d", b->form->scope, b->first + s);
        mst_name_scope_enter(b->graph, scope);
        mst_with_soft_device (b->graph, mst_strategy_device(b->strategy, b->first + s, device, sizeof device))
            b->loss_sums[s] = mst_add(b->loss_sums[s], mst_mul(mst_reduce_sum(b->replicas[s].counted[k].loss), part));
        mst_name_scope_pop(b->graph);
    }
}

/* Adds the losses that are divided by a count of their own, not by the number of examples: see mst_counted_loss. */
static void count_losses(builder *b, mst_value num_examples) {
    const int num = b->replicas[0].num_counted;
    if (!num) return;
    if (b->form->apart && b->strategy->synchronous) {
        mst_value_fail(b->graph, MST_UNIMPLEMENTED,
                       "strategy: synchronous parameter servers divide by the number of examples, so ignore_class is "
                       "not for them: train without --issync 1, or with workers that have no parameter servers");
        return;
    }
    mst_value *counts = calloc((size_t)b->count + 1, sizeof *counts);
    if (!counts) MST_VALUE_NO_MEMORY(b->graph, "for a step");
    for (int k = 0; k < num && counts; k++) add_counted_losses(b, k, num_examples, counts);
    free(counts);
}

/* Computes for each shard the gradients of (sum of its losses / number of examples of all shards). Added up over the
 * shards they are the gradient of the mean over the global batch. */
static void differentiate(builder *b, mst_value num_examples, const mst_value *variables, int n, mst_value *gradients) {
    mst_value one = mst_ones_like(b->loss_sums[0]);
    for (int i = 0; i < b->count; i++) {
        const int shard = b->first + i;
        char device[64], scope[64];
        snprintf(scope, sizeof scope, "%s_%d", b->form->scope, shard);
        mst_name_scope_enter(b->graph, scope);
        b->graph->current.replica = &b->places[i];
        mst_with_soft_device (b->graph, mst_strategy_device(b->strategy, shard, device, sizeof device))
            mst_gradients_from(b->loss_sums[i], mst_div(one, num_examples), variables, n, &gradients[i * n]);
        mst_name_scope_pop(b->graph);
    }
}

/* Adds the gradient of variable V, summed over SHARDS, to OUT: one value; for a sparse gradient its rows and their
 * numbers. */
static void give_gradient(const mst_update *u, int v, mst_shards shards, mst_value *terms, mst_step_values *out) {
    mst_value *to = (mst_value *)(uintptr_t)out->gradient + out->num_gradients;
    if (out->sparse[v]) {
        const mst_row_values given = mst_sum_gradient_rows(u, v, shards);
        to[0] = given.rows;
        to[1] = given.numbers;
        out->num_gradients += 2;
        return;
    }
    const int first = shards.first - u->window.first;
    for (int s = 0; s < shards.count; s++) terms[s] = u->gradients[(first + s) * u->num_variables + v];
    to[0] = shards.count > 1 ? mst_add_n(terms, shards.count) : terms[0];
    out->num_gradients++;
}

/* Adds update K of the shards of LEAF to OUT, in place of a gradient. In synchronous training it is the sum of the
 * shards' values; with MST_JOIN_FIRST all values except the value of shard 0 are -0. Otherwise it is the change of the
 * variable. */
static void give_update(builder *b, int k, mst_shards leaf, mst_value *terms, mst_step_values *out) {
    const mst_state_update *update = &b->replicas[0].updates[k];
    for (int i = 0; i < b->count; i++) terms[i] = b->replicas[i].updates[k].value;
    mst_value sum;
    if (b->strategy->synchronous) {
        if (join_kind(update) == MST_JOIN_FIRST) keep_first(b, terms);
        mst_value *const first = terms + (leaf.first - b->first);
        sum = leaf.count > 1 ? mst_add_n(first, leaf.count) : first[0];
    } else {
        sum = join_values(b, update, terms);
        if (join_kind(update) != MST_JOIN_ADD) sum = mst_sub(sum, update->variable);
    }
    ((mst_value *)(uintptr_t)out->gradient)[out->num_gradients++] = sum;
}

/* The leaf that begins with shard AT. END: 1 + the last shard that is built in this process. */
static mst_shards leaf_at(const builder *b, int at, int end) {
    return b->strategy->synchronous ? mst_shards_within(at, end, b->strategy->num_shards) : (mst_shards){at, end - at};
}

/* Adds the gradients, and the updates that the replicas ask for, to OUT: one value for each leaf. */
static void give_gradients(builder *b, const mst_update *u, mst_step_values *out) {
    const int end = b->first + b->count, trained = u->num_variables, n = trained + b->replicas[0].num_updates;
    if (!are_updates_alike(b)) return;
    mst_value *terms = calloc((size_t)b->count + 1, sizeof *terms);
    /* the N variables; then for each leaf the gradients, of at most two values each */
    mst_value *all = mst_arena_alloc(&b->graph->arena, (1 + 2 * (size_t)b->count) * ((size_t)n + 1) * sizeof *all);
    bool *sparse = mst_arena_alloc(&b->graph->arena, (size_t)n + 1);
    mst_join_kind *join = mst_arena_alloc(&b->graph->arena, ((size_t)n + 1) * sizeof *join);
    if (!terms || !all || !sparse || !join) {
        free(terms);
        MST_VALUE_NO_MEMORY(b->graph, "for gradients");
        return;
    }
    for (int v = 0; v < n; v++) {
        const mst_state_update *update = v < trained ? NULL : &b->replicas[0].updates[v - trained];
        all[v] = update ? update->variable : u->variables[v];
        sparse[v] = !update && mst_has_gradient_rows(u, v);
        join[v] = update ? join_kind(update) : MST_JOIN_DEFAULT;
    }
    out->variable = all;
    out->gradient = all + n;
    out->sparse = sparse;
    out->join = join;
    out->num_variables = n;
    for (int at = b->first; at < end; out->num_leaves++) {
        const mst_shards leaf = leaf_at(b, at, end);
        for (int v = 0; v < trained; v++) give_gradient(u, v, leaf, terms, out);
        for (int k = 0; k < n - trained; k++) give_update(b, k, leaf, terms, out);
        at += leaf.count;
    }
    free(terms);
    /* this graph counts steps too, since random numbers of a step are drawn by global_step */
    const mst_value counted = mst_assign_add(out->global_step, mst_scalar(b->graph, MST_I64, 1));
    out->train = mst_group((const mst_value[]){mst_group(out->gradient, out->num_gradients), counted}, 2);
}

/* Lists in SUM the terms of everything that is added up over the shards: for each metric its sums and its counts; then
 * the losses; then the examples. Each is [count]: one value for each shard that is built here. */
static void list_reported(const builder *b, mst_value *sum) {
    const int count = b->count, num_metrics = b->replicas[0].num_metrics;
    mst_value *loss = sum + (ptrdiff_t)2 * num_metrics * count, *examples = loss + count;
    for (int m = 0; m < num_metrics; m++)
        for (int s = 0; s < count; s++) {
            sum[2 * m * count + s] = b->replicas[s].metric_sum[m];
            sum[(2 * m + 1) * count + s] = b->replicas[s].metric_count[m];
        }
    for (int s = 0; s < count; s++) {
        loss[s] = mst_cast(b->loss_sums[s], MST_F64);
        examples[s] = mst_dim_size(b->replicas[s].loss, 0, MST_F64);
    }
}

/* Returns LOSS_SUM + EXAMPLES * PENALTY. The penalty is added to the sum over all shards and not to its terms: it may
 * be computed only behind the gate (run/gate.h), after all sums over devices and tasks. */
static mst_value add_penalty(mst_value loss_sum, mst_value penalty, mst_value examples) {
    if (mst_value_is_none(penalty)) return loss_sum;
    return mst_add(loss_sum, mst_mul(mst_cast(penalty, MST_F64), examples));
}

/* Gives the reported sums of each leaf, for parameter servers, which add up the leaves of all workers. */
static void give_reported(const builder *b, const mst_value *sum, int num_sums, mst_value penalty,
                          mst_step_values *out) {
    const int end = b->first + b->count;
    mst_value *to = mst_arena_alloc(&b->graph->arena, ((size_t)out->num_leaves * (size_t)num_sums + 1) * sizeof *to);
    if (!to) {
        MST_VALUE_NO_MEMORY(b->graph, "for a step");
        return;
    }
    out->reported = to;
    for (int at = b->first, l = 0; l < out->num_leaves; l++) {
        const mst_shards leaf = leaf_at(b, at, end);
        for (int i = 0; i < num_sums; i++) {
            const mst_value *first = sum + (ptrdiff_t)i * b->count + (leaf.first - b->first);
            *to++ = leaf.count > 1 ? mst_add_n(first, leaf.count) : *first;
        }
        to[-2] = add_penalty(to[-2], penalty, to[-1]); /* the last two sums: of losses, and of examples */
        at += leaf.count;
    }
}

static void report(builder *b, mst_step_values *out, mst_value penalty) {
    const int num_metrics = b->replicas[0].num_metrics, num_sums = 2 * num_metrics + 2;
    mst_value *sum = calloc((size_t)num_sums * (size_t)b->count, sizeof *sum);
    if (!sum) {
        MST_VALUE_NO_MEMORY(b->graph, "for a step");
        return;
    }
    list_reported(b, sum);
    out->num_metrics = num_metrics;
    for (int m = 0; m < num_metrics; m++) {
        out->metric_sum[m] = mst_strategy_sum(b->strategy, sum + (ptrdiff_t)2 * m * b->count);
        out->metric_count[m] = mst_strategy_sum(b->strategy, sum + (ptrdiff_t)(2 * m + 1) * b->count);
    }
    const mst_value examples = mst_cast(out->num_examples, MST_F64);
    out->loss_sum =
        add_penalty(mst_strategy_sum(b->strategy, sum + (ptrdiff_t)2 * num_metrics * b->count), penalty, examples);
    out->loss = mst_cast(mst_div(out->loss_sum, examples), mst_value_spec(b->loss_sums[0]).dtype);
    give_reported(b, sum, num_sums, penalty, out);
    free(sum);
}

static void build_update(builder *b, const mst_optimizer *optimizer, mst_step_values *out, mst_value *penalty) {
    mst_graph *graph = b->graph;
    const int shards = b->count, count = mst_collection(graph, MST_TRAINABLE, NULL, NULL, 0);
    mst_value *variables = calloc((size_t)count + 1, sizeof *variables);
    mst_value *gradients = calloc((size_t)shards * (size_t)count + 1, sizeof *gradients);
    mst_optimizer resolved;
    if (!variables || !gradients) {
        MST_VALUE_NO_MEMORY(graph, "for gradients");
    } else if (mst_resolve_optimizer(graph, optimizer, &resolved)) {
        int used = 0;
        mst_collection(graph, MST_TRAINABLE, NULL, variables, count);
        differentiate(b, b->form->apart ? out->divisor : out->num_examples, variables, count, gradients);
        /* variables that the loss does not depend on are left out, and so are their gradients: [shards][used] */
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
                                   .num_shards = b->strategy->num_shards,
                                   .window = {b->first, b->count},
                                   .variables = variables,
                                   .gradients = gradients,
                                   .global_step = out->global_step,
                                   .numbers_on_host = b->on_host,
                                   .num_parts = b->strategy->num_parts,
                                   .part = b->strategy->part};
        if (b->form->apart) {
            give_gradients(b, &update, out);
            *penalty = mst_penalties(graph);
        } else {
            mst_update_values values;
            mst_build_update(&update, &values);
            out->train = add_updates(b, values.train);
            out->learning_rate = values.learning_rate;
            *penalty = values.penalty;
        }
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
    builder b = {.graph = graph,
                 .strategy = &resolved,
                 .form = mst_strategy_form_of(&resolved),
                 .on_host = mst_strategy_compiles(&resolved),
                 .first = mst_strategy_window(&resolved).first,
                 .count = mst_strategy_window(&resolved).count};
    b.replicas = calloc((size_t)b.count, sizeof *b.replicas);
    b.loss_sums = calloc((size_t)b.count + 1, sizeof *b.loss_sums);
    b.places = calloc((size_t)b.count + 1, sizeof *b.places);
    if (b.replicas && b.loss_sums && b.places) {
        number_shards(&b);
        const int before = mst_collection(graph, MST_VARIABLES, NULL, NULL, 0);
        char first[64];
        for (int i = 0; i < b.count; i++) build_replica(&b, i, replica, context);
        if (b.form->mirrored) mirror_variables(&b, before);
        mst_value penalty = MST_NONE;
        mst_with_soft_device (graph, mst_strategy_device_name(&resolved, 0, first, sizeof first)) {
            mst_with_host (graph, b.on_host) {
                out->num_examples = count_examples(&b);
                if (b.form->apart) out->divisor = mst_identity(out->num_examples);
                out->global_step = mst_global_step(graph);
            }
            count_losses(&b, out->num_examples);
            if (optimizer)
                build_update(&b, optimizer, out, &penalty);
            else
                penalty = mst_penalties(graph);
            mst_with_host (graph, b.on_host) report(&b, out, penalty);
        }
    } else {
        MST_VALUE_NO_MEMORY(graph, "for a step");
    }
    free(b.replicas);
    free(b.loss_sums);
    free(b.places);
}
