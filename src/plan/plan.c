#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/buffer.h"

mst_status mst_plan_add(mst_plan *plan, const mst_plan_node *node, const int32_t *src, const mst_spec *dst,
                        int32_t *out) {
    if (plan->num_nodes >= INT32_MAX / 2 || plan->num_values >= INT32_MAX / 2 - node->num_dst)
        return MST_FAIL(MST_INVALID, "plan: more than %d nodes", INT32_MAX / 2);
    MST_TRY(mst_grow(&plan->node, sizeof *plan->node, plan->num_nodes + 1, &plan->node_capacity));
    MST_TRY(mst_grow(&plan->value, sizeof *plan->value, plan->num_values + node->num_dst, &plan->value_capacity));
    mst_plan_node *added = &plan->node[plan->num_nodes];
    *added = *node;
    added->src = mst_arena_copy(&plan->memory, src, (size_t)node->num_src * sizeof *src);
    added->control = mst_arena_copy(&plan->memory, node->control, (size_t)node->num_control * sizeof *src);
    if (!added->src || !added->control) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a plan");
    added->dst = (int32_t)plan->num_values;
    for (int i = 0; i < node->num_dst; i++) {
        int32_t value = (int32_t)plan->num_values++;
        plan->value[value] =
            (mst_plan_value){.spec = dst[i], .node = (int32_t)plan->num_nodes, .root = value, .feed = -1};
    }
    *out = (int32_t)plan->num_nodes++;
    return MST_OK;
}

bool mst_plan_shape_only(const mst_plan_node *node, int i) {
    return i < 32 && (node->op->shape_only >> i & 1u);
}

bool mst_plan_writes(const mst_plan_node *node, int i) {
    return node->op->writes && node->op->writes(node->options, node->num_src, i);
}

bool mst_plan_is_silent(const mst_plan *plan, const mst_plan_node *node) {
    if (node->op == &mst_op_feed) return plan->value[node->dst].where == MST_IN_FEED;
    if (node->op == &mst_op_receive) return false;
    if ((node->op->flags & MST_OP_VIEW) && !node->writer) return !node->materialize;
    if (node->num_dst && plan->value[node->dst].constant) return true;
    return (node->op->flags & (MST_OP_VARIABLE | MST_OP_NO_VALUE)) != 0;
}

bool mst_plan_is_variable(const mst_plan *plan, int32_t value) {
    return (plan->node[plan->value[value].node].op->flags & MST_OP_VARIABLE) != 0;
}

mst_infer mst_plan_infer_context(const mst_plan *plan, const mst_plan_node *node, mst_spec *spec, mst_spec *dst) {
    for (int i = 0; i < node->num_src; i++) spec[i] = plan->value[node->src[i]].spec;
    for (int i = 0; i < node->num_dst; i++) dst[i] = plan->value[node->dst + i].spec;
    return (mst_infer){.op = node->op,
                       .options = node->options,
                       .name = node->name,
                       .num_src = node->num_src,
                       .src = spec,
                       .num_dst = node->num_dst,
                       .dst = dst};
}

mst_status mst_plan_sweep(mst_plan *plan) {
    bool *live = calloc((size_t)plan->num_nodes + 1, sizeof *live);
    if (!live) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a plan");
    for (int64_t i = 0; i < plan->num_values; i++) plan->value[i].num_uses = 0;
    /* Passes keep sources before their consumers in `position`, not in number: a work list, not a backward loop. */
    int32_t *stack = malloc(((size_t)plan->num_nodes + 1) * sizeof *stack);
    int64_t top = 0;
    for (int i = 0; stack && i < plan->num_fetches; i++)
        if (!live[plan->fetch_node[i]]) {
            live[plan->fetch_node[i]] = true;
            stack[top++] = plan->fetch_node[i];
        }
    while (stack && top) {
        const mst_plan_node *node = &plan->node[stack[--top]];
        for (int i = 0; i < node->num_src + node->num_control; i++) {
            bool is_src = i < node->num_src;
            if (is_src && mst_plan_shape_only(node, i)) continue;
            int32_t from = is_src ? plan->value[node->src[i]].node : node->control[i - node->num_src];
            if (is_src) plan->value[node->src[i]].num_uses++;
            if (live[from]) continue;
            live[from] = true;
            stack[top++] = from;
        }
    }
    for (int64_t i = 0; i < plan->num_nodes; i++) plan->node[i].dead = !live[i];
    free(live);
    if (!stack) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a plan");
    free(stack);
    return MST_OK;
}

static const struct {
    const char *name;
    mst_status (*run)(mst_plan *plan);
} passes[] = {
    {"prune", mst_plan_prune},         {"infer", mst_plan_infer},   {"place", mst_plan_place},
    {"simplify", mst_plan_simplify},   {"fuse", mst_plan_fuse},     {"schedule", mst_plan_schedule},
    {"partition", mst_plan_partition}, {"select", mst_plan_select}, {"memory", mst_plan_memory},
    {"compile", mst_plan_compile},
};

mst_status mst_plan_make(const mst_graph *graph, const mst_plan_host *host, const mst_feed *feeds, int num_feeds,
                         const mst_value *fetches, int num_fetches, mst_plan **out) {
    *out = NULL;
    mst_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a plan");
    plan->graph = graph;
    plan->host = host;
    plan->feed = feeds;
    plan->num_feeds = num_feeds;
    plan->fetch = fetches;
    plan->num_fetches = num_fetches;
    mst_status status = MST_OK;
    for (size_t i = 0; i < sizeof passes / sizeof *passes && !status; i++) {
        status = passes[i].run(plan);
        if (!status && host->options->plan_log) mst_plan_print(plan, host->options->plan_log, passes[i].name);
    }
    plan->feed = NULL;
    plan->fetch = NULL;
    if (status)
        mst_plan_destroy(plan);
    else
        *out = plan;
    return status;
}

void mst_plan_destroy(mst_plan *plan) {
    if (!plan) return;
    for (int64_t i = 0; i < plan->num_nodes; i++)
        if (plan->node[i].kernel && plan->node[i].kernel->release) plan->node[i].kernel->release(plan->node[i].state);
    for (int64_t i = 0; i < plan->num_values; i++) mst_tensor_release(plan->value[i].constant);
    for (int i = 0; plan->program && i < plan->host->devices->count; i++) {
        free(plan->program[i].item);
        free(plan->program[i].node);
        mst_buffer_free(plan->program[i].arena);
    }
    free(plan->program);
    free(plan->node);
    free(plan->value);
    free(plan->order);
    free(plan->crossing);
    free(plan->patch);
    free(plan->port);
    mst_arena_free(&plan->memory);
    free(plan);
}
