/* What the passes share, and mst_plan_make, which runs them in the order of passes.h.
 *
 * A plan consists of arrays of nodes, values, groups and states. They refer to each other by index, so the arrays can
 * grow while passes add to them. Only the functions mst_plan_add... append. A pass that makes nodes superfluous leaves
 * them in place: mst_plan_sweep marks nodes as dead that neither a fetch nor an effect needs. mst_plan_sort puts the
 * live nodes into an order in which sources come first. A finished plan does not change, so threads share it
 * without a lock. */
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/did_you_mean.h"
#include "base/no_memory.h"
#include "graph/graph.h"
#include "muster/ops.h"
#include "op/list.h"
#include "plan/bodies.h"
#include "tensor/buffer.h"

/* ---- building ---- */

mst_status mst_plan_add(mst_plan *plan, const mst_plan_node *node, const int32_t *src, const mst_spec *dst,
                        int32_t *out) {
    if (plan->num_nodes >= INT32_MAX / 2 || plan->num_values >= INT32_MAX / 2 - node->num_dst)
        return MST_FAIL(MST_INVALID, "plan: more than %d nodes", INT32_MAX / 2);
    /* copied before the arrays grow: SRC may point into a node, which then moves */
    mst_plan_node added = *node;
    added.src = mst_arena_copy(&plan->memory, src, (size_t)node->num_src * sizeof *src);
    added.control = mst_arena_copy(&plan->memory, node->control, (size_t)node->num_control * sizeof *src);
    if (!added.src || !added.control) return MST_NO_MEMORY("for a plan");
    for (int i = 0; i < added.num_src; i++) added.writer |= mst_plan_writes(&added, i);
    MST_TRY(mst_grow(&plan->node, sizeof *plan->node, plan->num_nodes + 1, &plan->node_capacity));
    MST_TRY(mst_grow(&plan->value, sizeof *plan->value, plan->num_values + added.num_dst, &plan->value_capacity));
    added.dst = (int32_t)plan->num_values;
    plan->node[plan->num_nodes] = added;
    for (int i = 0; i < added.num_dst; i++) {
        int32_t value = (int32_t)plan->num_values++;
        plan->value[value] = (mst_plan_value){
            .spec = dst[i], .node = (int32_t)plan->num_nodes, .root = value, .index = -1, .counted_by = -1};
    }
    *out = (int32_t)plan->num_nodes++;
    return MST_OK;
}

mst_status mst_plan_become(mst_plan *plan, mst_plan_node *node, const mst_op *op, const void *options, int num_src,
                           const int32_t *src) {
    node->options = mst_arena_copy(&plan->memory, options, op->options_size);
    node->src = mst_arena_copy(&plan->memory, src, (size_t)num_src * sizeof *src);
    if (!node->options || !node->src) return MST_NO_MEMORY("for a plan");
    node->op = op;
    node->num_src = num_src;
    return MST_OK;
}

mst_status mst_plan_add_cast(mst_plan *plan, const mst_plan_node *user, int32_t value, mst_dtype dtype,
                             const char *suffix, int32_t *out) {
    const mst_cast_options to = {.dtype = dtype};
    const mst_spec spec = {.dtype = dtype, .shape = plan->value[value].spec.shape};
    const mst_plan_node cast = {
        .op = &mst_op_cast,
        .options = mst_arena_copy(&plan->memory, &to, sizeof to),
        .name = mst_arena_print(&plan->memory, "%s/%s", plan->node[plan->value[value].node].name, suffix),
        .asked = "",
        .num_src = 1,
        .num_dst = 1,
        .device = user->device,
        .group = -1,
        .part = user->part,
        .phase = user->phase,
        .earliest = user->phase};
    int32_t added;
    if (!cast.options || !cast.name) return MST_NO_MEMORY("for a plan");
    MST_TRY(mst_plan_add(plan, &cast, &value, &spec, &added));
    *out = plan->node[added].dst;
    return MST_OK;
}

mst_status mst_plan_add_state(mst_plan *plan, const mst_node *variable, int32_t device, bool of_domain, int32_t group,
                              int32_t *out) {
    const int kind = ((const mst_variable_options *)variable->options)->kind;
    MST_TRY(mst_grow(&plan->state, sizeof *plan->state, plan->num_states + 1, &plan->state_capacity));
    of_domain |= kind == MST_STATE_SLOT || kind == MST_STATE_AVERAGE;
    plan->state[plan->num_states] =
        (mst_plan_state){.variable = variable, .device = device, .of_domain = of_domain, .group = group};
    const mst_plan_node node = {.op = variable->op,
                                .options = variable->options,
                                .name = variable->name,
                                .origin = variable,
                                .asked = variable->device,
                                .num_dst = 1,
                                .device = device,
                                .group = -1};
    int32_t added;
    MST_TRY(mst_plan_add(plan, &node, NULL, variable->dst, &added));
    *out = plan->node[added].dst;
    plan->value[*out].space = MST_IN_STATE;
    plan->value[*out].index = (int32_t)plan->num_states++;
    return MST_OK;
}

mst_status mst_plan_add_group(mst_plan *plan, const int32_t *devices, int32_t count, int32_t *out) {
    for (int64_t g = 0; g < plan->num_groups; g++)
        if (plan->group[g].count == count &&
            memcmp(plan->group[g].device, devices, (size_t)count * sizeof *devices) == 0) {
            *out = (int32_t)g;
            return MST_OK;
        }
    MST_TRY(mst_grow(&plan->group, sizeof *plan->group, plan->num_groups + 1, &plan->group_capacity));
    mst_plan_group *group = &plan->group[plan->num_groups];
    group->device = mst_arena_copy(&plan->memory, devices, (size_t)count * sizeof *devices);
    group->count = count;
    if (!group->device) return MST_NO_MEMORY("for a plan");
    *out = (int32_t)plan->num_groups++;
    return MST_OK;
}

mst_status mst_plan_add_control(mst_plan *plan, int32_t node, int32_t after) {
    mst_plan_node *n = &plan->node[node];
    for (int i = 0; i < n->num_control; i++)
        if (n->control[i] == after) return MST_OK;
    int32_t *control = mst_arena_alloc(&plan->memory, ((size_t)n->num_control + 1) * sizeof *control);
    if (!control) return MST_NO_MEMORY("for a plan");
    memcpy(control, n->control, (size_t)n->num_control * sizeof *control);
    control[n->num_control++] = after;
    n->control = control;
    return MST_OK;
}

mst_status mst_plan_add_effect(mst_plan *plan, int32_t node) {
    MST_TRY(mst_grow(&plan->effect, sizeof *plan->effect, plan->num_effects + 1, &plan->effect_capacity));
    plan->effect[plan->num_effects++] = node;
    return MST_OK;
}

/* ---- properties of nodes and values ---- */

bool mst_plan_shape_only(const mst_plan_node *node, int i) {
    return i < 32 && (node->op->shape_only >> i & 1u);
}

bool mst_plan_writes(const mst_plan_node *node, int i) {
    return node->op->writes && node->op->writes(node->options, node->num_src, i);
}

bool mst_plan_is_view(const mst_plan_node *node) {
    return (node->op->flags & MST_OP_VIEW) && node->num_src > 0 && !node->materialize;
}

bool mst_plan_is_silent(const mst_plan *plan, const mst_plan_node *node) {
    if (node->op == &mst_op_feed) return plan->value[node->dst].space == MST_IN_FEED;
    if (node->op == &mst_op_send) return node->stream == 0; /* inside a task the receive copies */
    if (node->op == &mst_op_receive) return false;
    if ((node->op->flags & MST_OP_VIEW) && !node->writer) return !node->materialize;
    if (node->num_dst && plan->value[node->dst].constant) return true;
    return (node->op->flags & (MST_OP_VARIABLE | MST_OP_NO_VALUE)) != 0;
}

bool mst_plan_is_variable(const mst_plan *plan, int32_t value) {
    return (plan->node[plan->value[value].node].op->flags & MST_OP_VARIABLE) != 0;
}

bool mst_plan_in_variable(const mst_plan *plan, int32_t value) {
    const mst_plan_node *maker;
    while (maker = &plan->node[plan->value[value].node], mst_plan_is_view(maker)) value = maker->src[0];
    return mst_plan_is_variable(plan, value);
}

bool mst_plan_compiles(const mst_plan *plan, const mst_plan_node *node) {
    return node->device >= 0 && plan->host->devices->device[node->device].type->compiles;
}

bool mst_plan_has_compilers(const mst_plan *plan) {
    for (int i = 0; i < plan->host->devices->count; i++)
        if (plan->host->devices->device[i].type->compiles) return true;
    return false;
}

int32_t mst_plan_number_device(const mst_plan *plan, int32_t device) {
    const mst_devices *devices = plan->host->devices;
    return devices->device[device].type->compiles ? mst_device_host_device(devices, device) : device;
}

mst_domain *mst_plan_domain(const mst_plan *plan, int32_t device) {
    return plan->host->devices->device[device].domain;
}

mst_domain *mst_plan_value_domain(const mst_plan *plan, int32_t value) {
    const mst_plan_node *maker = &plan->node[plan->value[value].node];
    if (plan->value[value].space == MST_IN_FEED && maker->op == &mst_op_feed)
        return mst_device_host(plan->host->devices, maker->device);
    if (plan->value[value].space == MST_IN_SUM) return &mst_domain_host;
    return mst_plan_domain(plan, maker->device);
}

int32_t mst_plan_task(const mst_plan *plan, const mst_plan_node *node) {
    return plan->host->devices->device[node->device].task;
}

bool mst_plan_has_tasks(const mst_plan *plan) {
    return plan->host->devices->num_tasks > 1;
}

bool mst_plan_is_in_another_task(const mst_plan *plan, const mst_plan_node *node) {
    return mst_plan_task(plan, node) != plan->host->devices->self;
}

int64_t mst_plan_bytes(const mst_plan_value *value) {
    return (int64_t)mst_align((size_t)mst_shape_count(value->spec.shape) * mst_dtype_size(value->spec.dtype));
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

/* ---- sweeping and sorting ---- */

mst_status mst_plan_sweep(mst_plan *plan) {
    bool *live = calloc((size_t)plan->num_nodes + 1, sizeof *live);
    int32_t *stack = malloc(((size_t)plan->num_nodes + 1) * sizeof *stack);
    int64_t top = 0;
    if (!live || !stack) {
        free(live);
        free(stack);
        return MST_NO_MEMORY("for a plan");
    }
    for (int64_t i = 0; i < plan->num_values; i++) plan->value[i].num_uses = 0;
    for (int64_t i = 0; i < plan->num_fetches + plan->num_effects; i++) {
        const int32_t root = i < plan->num_fetches ? plan->fetch_node[i] : plan->effect[i - plan->num_fetches];
        if (!live[root]) stack[top++] = root;
        live[root] = true;
    }
    while (top) {
        const mst_plan_node *node = &plan->node[stack[--top]];
        for (int i = 0; i < node->num_src + node->num_control; i++) {
            const bool is_src = i < node->num_src;
            if (is_src && mst_plan_shape_only(node, i)) continue;
            const int32_t from = is_src ? plan->value[node->src[i]].node : node->control[i - node->num_src];
            if (is_src) plan->value[node->src[i]].num_uses++;
            if (live[from]) continue;
            live[from] = true;
            stack[top++] = from;
        }
    }
    for (int64_t i = 0; i < plan->num_nodes; i++) plan->node[i].dead = !live[i];
    free(live);
    free(stack);
    return MST_OK;
}

/* How far a walk has come within a node: `next` is the next of its sources and control sources. */
typedef struct visit {
    int32_t node, next;
} visit;

static int32_t source_node(const mst_plan *plan, const mst_plan_node *node, int k) {
    if (k >= node->num_src) return node->control[k - node->num_src];
    return mst_plan_shape_only(node, k) ? -1 : plan->value[node->src[k]].node;
}

mst_status mst_plan_sort(mst_plan *plan) {
    free(plan->order);
    plan->order = malloc(((size_t)plan->num_nodes + 1) * sizeof *plan->order);
    visit *stack = malloc(((size_t)plan->num_nodes + 1) * sizeof *stack);
    bool *seen = calloc((size_t)plan->num_nodes + 1, sizeof *seen);
    mst_status status = plan->order && stack && seen ? MST_OK : MST_NO_MEMORY("for a plan");
    plan->num_order = 0;
    for (int64_t i = 0; i < plan->num_fetches + plan->num_effects && !status; i++) {
        const int32_t root = i < plan->num_fetches ? plan->fetch_node[i] : plan->effect[i - plan->num_fetches];
        if (seen[root]) continue;
        int64_t top = 0;
        stack[top++] = (visit){.node = root};
        seen[root] = true;
        while (top) {
            visit *at = &stack[top - 1];
            mst_plan_node *node = &plan->node[at->node];
            if (at->next < node->num_src + node->num_control) {
                const int32_t from = source_node(plan, node, at->next++);
                if (from < 0 || seen[from]) continue;
                seen[from] = true;
                stack[top++] = (visit){.node = from};
            } else {
                node->position = (int32_t)plan->num_order;
                plan->order[plan->num_order++] = at->node;
                top--;
            }
        }
    }
    free(stack);
    free(seen);
    return status;
}

void mst_plan_find_backward(const mst_plan *plan, bool *backward) {
    for (int64_t k = 0; k < plan->num_order; k++) {
        const int32_t n = plan->order[k];
        const mst_plan_node *node = &plan->node[n];
        backward[n] = node->origin && node->origin->of_gradient;
        for (int i = 0; i < node->num_src; i++)
            backward[n] |= !mst_plan_shape_only(node, i) && backward[plan->value[node->src[i]].node];
    }
}

void mst_plan_phases(mst_plan *plan) {
    for (int64_t k = 0; k < plan->num_order; k++) {
        mst_plan_node *node = &plan->node[plan->order[k]];
        node->phase = node->earliest;
        for (int i = 0; i < node->num_src + node->num_control; i++) {
            const int32_t from = source_node(plan, node, i);
            if (from < 0) continue;
            const int32_t phase = plan->node[from].phase + plan->node[from].writer;
            if (phase > node->phase) node->phase = phase;
        }
    }
}

mst_status mst_plan_read_instead(mst_plan *plan, const int32_t *joined, int64_t num_values) {
    for (int64_t n = 0; n < plan->num_nodes; n++)
        for (int i = 0; i < plan->node[n].num_src && !plan->node[n].dead; i++) {
            int32_t *src = &plan->node[n].src[i];
            if (*src < num_values && joined[*src] >= 0) *src = joined[*src];
        }
    MST_TRY(mst_plan_sweep(plan));
    return mst_plan_sort(plan);
}

/* ---- the passes ---- */

static const struct {
    const char *name;
    mst_status (*run)(mst_plan *plan);
} passes[] = {
#define PASS(name) {#name, mst_plan_##name},
    MST_PASSES(PASS)
#undef PASS
};

/* `plan_pass` may also be this text, instead of the name of a pass. */
static const char texts[] = "stablehlo";

bool mst_plan_logs_texts(const mst_session_options *options) {
    return options->plan_log && options->plan_pass && strcmp(options->plan_pass, texts) == 0;
}

mst_status mst_plan_check_pass(const char *name) {
    enum { NUM_PASSES = sizeof passes / sizeof *passes };
    const char *names[NUM_PASSES + 2] = {NULL};
    for (int i = 0; i <= NUM_PASSES; i++) {
        names[i] = i < NUM_PASSES ? passes[i].name : texts;
        if (strcmp(names[i], name) == 0) return MST_OK;
    }
    const char *nearest = mst_nearest(name, names);
    return MST_FAIL(MST_INVALID, "session: plan_pass '%s' is no pass%s%s%s: they are listed in docs/how-a-step-runs.md",
                    name, nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'" : "");
}

mst_status mst_plan_make(const mst_graph *graph, const mst_plan_host *host, const mst_feed *feeds, int num_feeds,
                         const mst_value *fetches, int num_fetches, bool donates, mst_plan **out) {
    *out = NULL;
    mst_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return MST_NO_MEMORY("for a plan");
    plan->graph = graph;
    plan->host = host;
    plan->feed = feeds;
    plan->num_feeds = num_feeds;
    plan->fetch = fetches;
    plan->num_fetches = num_fetches;
    plan->donates = donates;
    plan->step_state = plan->vote = -1;
    const int64_t began = mst_clock_now();
    mst_status status = MST_OK;
    for (size_t i = 0; i < sizeof passes / sizeof *passes && !status; i++) {
        if (passes[i].run == mst_plan_programs && !mst_plan_has_compilers(plan)) continue;
        status = passes[i].run(plan);
        const char *wanted = host->options->plan_pass;
        if (!status && host->options->plan_log && (!wanted || strcmp(wanted, passes[i].name) == 0))
            mst_plan_print(plan, host->options->plan_log, passes[i].name);
    }
    if (!status && mst_plan_logs_texts(host->options)) status = mst_plan_print_programs(plan, host->options->plan_log);
    plan->feed = NULL;
    plan->fetch = NULL;
    plan->seconds = (double)(mst_clock_now() - began) * 1e-9;
    if (status)
        mst_plan_destroy(plan);
    else
        *out = plan;
    return status;
}

static void release_node(const mst_plan *plan, mst_plan_node *node) {
    mst_plan_destroy_bodies(node);
    if (!node->kernel || !node->kernel->release || !node->state) return;
    if (node->group < 0)
        node->kernel->release(node->state);
    else
        for (int32_t i = 0; i < plan->group[node->group].count; i++)
            node->kernel->release(((void *const *)node->state)[i]);
}

void mst_plan_destroy(mst_plan *plan) {
    if (!plan) return;
    for (int64_t i = 0; i < plan->num_nodes; i++) release_node(plan, &plan->node[i]);
    for (int64_t i = 0; i < plan->num_values; i++) mst_tensor_release(plan->value[i].constant);
    for (int i = 0; plan->program && i < plan->host->devices->count; i++) {
        free(plan->program[i].instance);
        free(plan->program[i].action);
        free(plan->program[i].call);
    }
    free(plan->program);
    free(plan->node);
    free(plan->value);
    free(plan->order);
    free(plan->effect);
    free(plan->group);
    free(plan->state);
    free(plan->instance_of);
    free(plan->instance);
    free(plan->wait);
    free(plan->exchange);
    mst_arena_free(&plan->memory);
    free(plan);
}
