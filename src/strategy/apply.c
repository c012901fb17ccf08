#include "strategy/apply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "muster/ops.h"
#include "op/apply_gradients.h"
#include "optimizer/rule.h"

#define SLOTS "slots"

const mst_optimizer *mst_keep_optimizer(mst_graph *graph, const mst_optimizer *optimizer) {
    mst_optimizer filled = mst_optimizer_named(optimizer->rule ? optimizer->rule : "sgd", *optimizer);
    mst_optimizer *kept = NULL;
    if (!mst_optimizer_check(&filled)) {
        kept = mst_arena_copy(&graph->arena, &filled, sizeof filled);
        if (kept) kept->rule = mst_rule_find(filled.rule)->name; /* a string that stays */
        if (!kept) MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for an optimizer");
    }
    if (!kept) mst_graph_stick(graph);
    return kept;
}

mst_value mst_mirror(mst_value variable, int i) {
    if (i == 0 || mst_value_is_none(variable)) return variable;
    char name[512];
    snprintf(name, sizeof name, "%s/replica_%d", mst_value_name(variable), i);
    mst_node *node = mst_graph_find(variable.node->graph, name);
    /* a variable that no replica of that device uses is there once */
    return node ? (mst_value){.node = node} : variable;
}

/* BASE or, where that is taken, BASE_1, ...: several updates in one graph have slots and rates of their own. */
static const char *free_name(const mst_graph *graph, const char *base, char *name, size_t size) {
    snprintf(name, size, "%s", base);
    for (int i = 1; mst_graph_find(graph, name); i++) snprintf(name, size, "%s_%d", base, i);
    return name;
}

/* A new variable beside another one: a slot, an average. */
static mst_value beside(mst_value variable, const char *suffix, mst_value initial) {
    char base[448], name[512];
    mst_graph *graph = variable.node->graph;
    snprintf(base, sizeof base, "%s/%s", mst_value_name(variable), suffix);
    free_name(graph, base, name, sizeof name);
    mst_value slot = MST_NONE;
    mst_with_device (graph, variable.node->device)
        slot = mst_variable(graph, name, initial, .not_trainable = true, .hidden = true);
    mst_collect(graph, SLOTS, slot);
    return slot;
}

static mst_value scalar_variable(mst_graph *graph, const char *base, mst_dtype dtype, double value) {
    char name[512];
    free_name(graph, base, name, sizeof name);
    mst_name_scope_enter(graph, mst_name_scope(graph));
    mst_control_clear(graph);
    mst_value variable =
        mst_variable(graph, name, mst_scalar(graph, dtype, value), .not_trainable = true, .hidden = true);
    mst_name_scope_pop(graph);
    return variable;
}

mst_value mst_global_step(mst_graph *graph) {
    mst_node *node = mst_graph_find(graph, "global_step");
    return node ? (mst_value){.node = node} : scalar_variable(graph, "global_step", MST_I64, 0);
}

mst_value mst_moving_average(mst_value variable) {
    if (!mst_is_variable(variable)) return MST_NONE;
    char name[512];
    snprintf(name, sizeof name, "%s/ExponentialMovingAverage", mst_value_name(variable));
    mst_node *node = mst_graph_find(variable.node->graph, name);
    return node ? (mst_value){.node = node} : MST_NONE;
}

/* ---- clipping by norm: needs the whole averaged gradient before any of it is applied ---- */

static mst_value averaged(const mst_update *u, int v, bool with_penalty) {
    mst_value terms[2];
    mst_value *shards = calloc((size_t)u->num_shards, sizeof *shards);
    if (!shards) return mst_value_fail(u->graph, MST_OUT_OF_MEMORY, "cannot get memory for gradients");
    for (int s = 0; s < u->num_shards; s++) shards[s] = u->gradients[s * u->num_variables + v];
    terms[0] = u->num_shards > 1 ? mst_add_n(shards, u->num_shards) : shards[0];
    free(shards);
    float l1, l2;
    mst_variable_penalty(u->variables[v], &l1, &l2);
    if (!with_penalty) return terms[0];
    mst_value w = u->variables[v];
    if (l2 != 0) terms[0] = mst_add(terms[0], mst_scale(w, (double)l2));
    if (l1 != 0) terms[0] = mst_add(terms[0], mst_scale(mst_sign(w), (double)l1));
    return terms[0];
}

/* limit / max(norm, limit) */
static mst_value clip_factor(mst_value norm, double limit) {
    mst_value most = mst_scalar(mst_value_graph(norm), mst_value_spec(norm).dtype, limit);
    return mst_div(most, mst_maximum(norm, most));
}

static void clip_norms(const mst_update *u, mst_value *clipped) {
    const mst_optimizer *o = u->optimizer;
    for (int v = 0; v < u->num_variables; v++) {
        clipped[v] = averaged(u, v, true);
        if (o->clip_norm <= 0) continue;
        clipped[v] = mst_mul(clipped[v], clip_factor(mst_global_norm(&clipped[v], 1), o->clip_norm));
    }
    if (o->clip_global_norm <= 0) return;
    mst_value norm = mst_global_norm(clipped, u->num_variables);
    /* norm - norm: 0, but NaN where the norm is infinite. As in TensorFlow no gradient is then taken for a good one:
     * the factor alone would be 0, and the step would look like one without gradients in all but the infinite elements.
     */
    mst_value factor = mst_add(clip_factor(norm, o->clip_global_norm), mst_sub(norm, norm));
    for (int v = 0; v < u->num_variables; v++) clipped[v] = mst_mul(clipped[v], factor);
}

/* ---- the nodes ---- */

typedef struct parts {
    mst_apply_options options;
    const mst_rule *rule;
    mst_value learning_rate;
    mst_value *src;
    mst_value *slots; /* [num_variables][num_slots + averages] */
} parts;

static mst_status collect_slots(const mst_update *u, parts *p) {
    int per = p->options.num_slots + p->options.averages;
    mst_penalty *penalty = mst_arena_alloc(&u->graph->arena, (size_t)u->num_variables * sizeof *penalty);
    p->slots = malloc(((size_t)(u->num_variables * per) + 1) * sizeof *p->slots);
    p->src = malloc((size_t)(mst_apply_source(&p->options, u->num_variables)) * sizeof *p->src);
    if (!penalty || !p->slots || !p->src) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for an update");
    p->options.penalty = penalty;
    for (int v = 0; v < u->num_variables; v++) {
        mst_value variable = u->variables[v];
        mst_spec spec = mst_value_spec(variable);
        mst_variable_penalty(variable, &penalty[v].l1, &penalty[v].l2);
        for (int k = 0; k < p->options.num_slots; k++) {
            double initial = p->rule->slot_initial ? p->rule->slot_initial(u->optimizer, k) : 0;
            p->slots[v * per + k] =
                beside(variable, p->rule->slot_name[k], mst_fill(u->graph, spec.dtype, spec.shape, initial));
        }
        if (!p->options.averages) continue;
        mst_value average = mst_moving_average(variable); /* one, whoever updates the variable */
        p->slots[v * per + per - 1] = mst_value_is_none(average)
                                          ? beside(variable, "ExponentialMovingAverage", mst_variable_initial(variable))
                                          : average;
    }
    return MST_OK;
}

static mst_value apply_part(const mst_update *u, parts *p, int part) {
    const mst_value *gradients = u->gradients;
    int per = p->options.num_slots + p->options.averages, n = MST_APPLY_FIRST;
    char name[96];
    snprintf(name, sizeof name, "%s/state_%d", p->rule->name, part);
    p->options.part = part;
    p->src[MST_APPLY_LEARNING_RATE] = p->learning_rate;
    p->src[MST_APPLY_STEP] = u->global_step;
    p->src[MST_APPLY_STATE] = p->rule->next_state ? scalar_variable(u->graph, name, MST_F64, p->rule->initial_state)
                                                  : mst_scalar(u->graph, MST_F64, 0);
    for (int v = 0; v < u->num_variables; v++) {
        for (int c = 0; c < u->num_copies; c++) /* the device's own first: that is the one which is read */
            p->src[n++] = mst_mirror(u->variables[v], (part + c) % u->num_copies);
        for (int k = 0; k < per; k++) p->src[n++] = p->slots[v * per + k];
        for (int s = 0; s < p->options.num_shards; s++) p->src[n++] = gradients[s * u->num_variables + v];
    }
    return mst_call(u->graph, &mst_op_apply_gradients, n, p->src, &p->options);
}

static void apply_parts(const mst_update *u, parts *p, mst_value *applied) {
    for (int part = 0; part < u->num_copies; part++) {
        char device[64];
        const char *asked = u->variables[0].node->device;
        if (u->num_copies > 1) snprintf(device, sizeof device, "/device:CPU:%d", part);
        mst_with_device (u->graph, u->num_copies > 1 ? device : asked) applied[part] = apply_part(u, p, part);
    }
}

static mst_status build(const mst_update *u, mst_update_values *out) {
    parts p = {.rule = mst_rule_find(u->optimizer->rule)};
    p.options = (mst_apply_options){.optimizer = u->optimizer,
                                    .num_variables = u->num_variables,
                                    .num_copies = u->num_copies,
                                    .num_slots = p.rule->num_slots(u->optimizer),
                                    .num_shards = u->num_shards,
                                    .averages = u->optimizer->ema_decay > 0,
                                    .num_parts = u->num_copies};
    mst_update whole = *u;
    mst_value *clipped = NULL, *applied = malloc(((size_t)u->num_copies + 1) * sizeof *applied);
    mst_status status = applied ? MST_OK : MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for an update");
    if (!status && (u->optimizer->clip_norm > 0 || u->optimizer->clip_global_norm > 0)) {
        clipped = calloc((size_t)u->num_variables, sizeof *clipped);
        if (!clipped) status = MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for an update");
        if (!status) clip_norms(u, clipped);
        whole.gradients = clipped;
        whole.num_shards = p.options.num_shards = 1;
        p.options.penalty_is_in_gradient = true;
    }
    p.learning_rate = mst_schedule_is_set(&u->optimizer->schedule)
                          ? mst_schedule_value(u->graph, &u->optimizer->schedule, u->global_step)
                          : scalar_variable(u->graph, "learning_rate", MST_F32, u->optimizer->learning_rate);
    out->learning_rate = p.learning_rate;
    if (!status) {
        mst_name_scope_enter(u->graph, mst_name_scope(u->graph));
        mst_control_clear(u->graph);
        status = collect_slots(&whole, &p);
        mst_name_scope_pop(u->graph);
    }
    if (!status) {
        apply_parts(&whole, &p, applied);
        bool has_penalty = false;
        for (int v = 0; v < u->num_variables; v++)
            has_penalty |= p.options.penalty[v].l1 != 0 || p.options.penalty[v].l2 != 0;
        if (has_penalty)
            out->penalty = mst_reduce_sum(u->num_copies > 1 ? mst_concat(applied, u->num_copies, 0) : applied[0]);
        applied[u->num_copies] = mst_assign_add(u->global_step, mst_scalar(u->graph, MST_I64, 1));
        out->train = mst_group(applied, u->num_copies + 1);
    }
    free(p.src);
    free(p.slots);
    free(clipped);
    free(applied);
    return status;
}

void mst_build_update(const mst_update *update, mst_update_values *out) {
    *out = (mst_update_values){0};
    if (!update->optimizer) {
        out->train = mst_graph_error_value(update->graph);
        return;
    }
    if (update->num_variables == 0) {
        out->train = mst_value_fail(update->graph, MST_INVALID, "update: the loss depends on no trainable variable");
        return;
    }
    for (int v = 0; v < update->num_variables; v++) {
        mst_spec spec = mst_value_spec(update->variables[v]);
        if (mst_is_variable(update->variables[v]) && spec.dtype == mst_value_spec(update->variables[0]).dtype) continue;
        out->train =
            mst_value_fail(update->graph, MST_INVALID, "update: '%s' is no variable, or its dtype is not that of '%s'",
                           mst_value_name(update->variables[v]), mst_value_name(update->variables[0]));
        return;
    }
    mst_with_name (update->graph, "update") {
        if (build(update, out)) mst_graph_stick(update->graph);
    }
}
