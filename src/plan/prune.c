/* prune: imports the part of the graph that the fetches need, as nodes and values of the plan.
 *
 * A walk back from the fetches marks the nodes. It stops at values that are fed; each fed value becomes a feed node.
 * The marked nodes are imported in the order of the graph, in which sources come before their users. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "graph/graph.h"
#include "plan/plan.h"

typedef struct importer {
    mst_plan *plan;
    int32_t *feed_of;   /* by graph node: first of the list of feeds of its outputs, linked by next_feed; -1: no output
                           is fed */
    int32_t *next_feed; /* by feed: next feed of an output of the same node; -1: none */
    uint8_t *needed;    /* by graph node: whether it is imported */
    uint8_t *ordered;   /* by graph node: whether it, or a node that it computes from, has control dependencies or
                           writes */
    int32_t *node_of;   /* by graph node: its plan node */
    int32_t *value_of;  /* by graph node: the value of its first output */
    const mst_node **stack;
    int64_t top;
} importer;

static int find_feed(const importer *m, mst_value value) {
    for (int32_t i = m->feed_of[value.node->id]; i >= 0; i = m->next_feed[i])
        if (m->plan->feed[i].value.index == value.index) return i;
    return -1;
}

static mst_status list_feeds(importer *m) {
    for (int32_t i = 0; i < m->plan->num_feeds; i++) {
        const mst_value value = m->plan->feed[i].value;
        if (find_feed(m, value) >= 0) return MST_FAIL(MST_INVALID, "run: '%s' is fed twice", value.node->name);
        m->next_feed[i] = m->feed_of[value.node->id];
        m->feed_of[value.node->id] = i;
    }
    return MST_OK;
}

/* Whether NODE is a placeholder that is fed. Its value exists when the step begins, so no node needs to wait for it. */
static bool is_fed_placeholder(const importer *m, const mst_node *node) {
    return (node->op->flags & MST_OP_PLACEHOLDER) && m->feed_of[node->id] >= 0;
}

static void need(importer *m, const mst_node *node) {
    if (m->needed[node->id]) return;
    m->needed[node->id] = 1;
    m->stack[m->top++] = node;
}

static void mark(importer *m) {
    while (m->top) {
        const mst_node *node = m->stack[--m->top];
        for (int i = 0; i < node->num_src; i++)
            if (find_feed(m, node->src[i]) < 0) need(m, node->src[i].node);
        for (int i = 0; i < node->num_control; i++)
            if (!is_fed_placeholder(m, node->control[i])) need(m, node->control[i]);
    }
}

static int32_t lookup(const importer *m, mst_value value) {
    const int feed = find_feed(m, value);
    return feed >= 0 ? m->plan->feed_value[feed] : m->value_of[value.node->id] + value.index;
}

static mst_status import_feeds(mst_plan *plan) {
    for (int i = 0; i < plan->num_feeds; i++) {
        const mst_feed *feed = &plan->feed[i];
        const mst_plan_node node = {.op = &mst_op_feed,
                                    .name = feed->value.node->name,
                                    .origin = feed->value.node,
                                    .asked = feed->value.node->device,
                                    .num_dst = 1,
                                    .device = -1,
                                    .group = -1,
                                    .port = i};
        const mst_spec spec =
            feed->tensor ? (mst_spec){mst_tensor_dtype(feed->tensor), mst_tensor_shape(feed->tensor)} : feed->spec;
        int32_t added;
        MST_TRY(mst_plan_add(plan, &node, NULL, &spec, &added));
        plan->feed_value[i] = plan->node[added].dst;
        plan->value[plan->feed_value[i]].index = i;
        if (!feed->fill) plan->value[plan->feed_value[i]].space = MST_IN_FEED;
    }
    return MST_OK;
}

static mst_status import_variable(importer *m, const mst_node *from) {
    int32_t value;
    MST_TRY(mst_plan_add_state(m->plan, from, -1, false, -1, &value));
    m->node_of[from->id] = m->plan->value[value].node;
    m->value_of[from->id] = value;
    return MST_OK;
}

/* Whether NODE uses source I for its shape only, but still has to come after it. A source of which only the shape is
 * used does not run. But if it comes after other nodes, or depends on writes, these must happen all the same. */
static bool waits_for_shape(const importer *m, const mst_node *node, int i) {
    const mst_value src = node->src[i];
    return i < 32 && (node->op->shape_only >> i & 1u) && /* as mst_plan_shape_only */
           find_feed(m, src) < 0 && m->ordered[src.node->id];
}

/* Fills CONTROL with the plan nodes for which FROM waits; returns their number. */
static int32_t list_controls(importer *m, const mst_node *from, int32_t *control) {
    int32_t count = 0;
    bool ordered = false;
    for (int i = 0; i < from->num_control; i++)
        if (!is_fed_placeholder(m, from->control[i])) control[count++] = m->node_of[from->control[i]->id];
    ordered = count > 0;
    for (int i = 0; i < from->num_src; i++) {
        if (waits_for_shape(m, from, i)) control[count++] = m->node_of[from->src[i].node->id];
        ordered |= find_feed(m, from->src[i]) < 0 && m->ordered[from->src[i].node->id];
    }
    m->ordered[from->id] = ordered;
    return count;
}

static mst_status import_node(importer *m, const mst_node *from) {
    mst_plan *plan = m->plan;
    if (from->op->flags & MST_OP_VARIABLE) return import_variable(m, from);
    /* 2 * num_src: a source of which only the shape is used may become a control source too */
    int32_t *src = mst_arena_alloc(&plan->memory, (size_t)(2 * from->num_src + from->num_control) * sizeof *src);
    if (!src) return MST_NO_MEMORY("for a plan");
    for (int i = 0; i < from->num_src; i++) src[i] = lookup(m, from->src[i]);
    int32_t *control = src + from->num_src;
    const int32_t num_control = list_controls(m, from, control);
    const mst_plan_node node = {.op = from->op,
                                .options = from->options,
                                .name = from->name,
                                .origin = from,
                                .asked = from->device,
                                .num_src = from->num_src,
                                .num_control = num_control,
                                .control = control,
                                .num_dst = from->num_dst,
                                .made = from->id,
                                .device = -1,
                                .group = -1,
                                .part = from->shard + 1};
    plan->has_shards |= from->shard >= 0;
    int32_t added;
    MST_TRY(mst_plan_add(plan, &node, src, from->dst, &added));
    if (plan->node[added].writer) {
        m->ordered[from->id] = 1;
        plan->node[added].part = MST_PART_REST; /* variables belong to no shard */
    }
    m->node_of[from->id] = added;
    m->value_of[from->id] = plan->node[added].dst;
    return MST_OK;
}

static mst_status import_fetch(importer *m, int i) {
    mst_plan *plan = m->plan;
    const mst_value fetch = plan->fetch[i];
    const bool no_value = find_feed(m, fetch) < 0 && (fetch.node->op->flags & MST_OP_NO_VALUE);
    const int32_t value = no_value ? -1 : lookup(m, fetch);
    const int32_t control = no_value ? m->node_of[fetch.node->id] : -1;
    const mst_plan_node node = {.op = &mst_op_fetch,
                                .name = fetch.node->name,
                                .asked = "",
                                .num_src = no_value ? 0 : 1,
                                .num_control = no_value ? 1 : 0,
                                .control = (int32_t *)(uintptr_t)&control,
                                .device = -1,
                                .group = -1,
                                .port = i};
    return mst_plan_add(plan, &node, &value, NULL, &plan->fetch_node[i]);
}

static mst_status import_all(importer *m) {
    mst_plan *plan = m->plan;
    const size_t count = (size_t)plan->graph->num_nodes + 1;
    m->feed_of = malloc(count * sizeof *m->feed_of);
    m->next_feed = malloc(((size_t)plan->num_feeds + 1) * sizeof *m->next_feed);
    m->needed = calloc(count, sizeof *m->needed);
    m->ordered = calloc(count, sizeof *m->ordered);
    m->node_of = malloc(count * sizeof *m->node_of);
    m->value_of = malloc(count * sizeof *m->value_of);
    m->stack = malloc(count * sizeof *m->stack);
    plan->feed_value = mst_arena_alloc(&plan->memory, (size_t)(plan->num_feeds + 1) * sizeof *plan->feed_value);
    plan->fetch_node = mst_arena_alloc(&plan->memory, (size_t)(plan->num_fetches + 1) * sizeof *plan->fetch_node);
    if (!m->feed_of || !m->next_feed || !m->needed || !m->ordered || !m->node_of || !m->value_of || !m->stack ||
        !plan->feed_value || !plan->fetch_node)
        return MST_NO_MEMORY("for a plan");
    memset(m->feed_of, -1, count * sizeof *m->feed_of);
    MST_TRY(list_feeds(m));
    MST_TRY(import_feeds(plan));
    for (int i = 0; i < plan->num_fetches; i++)
        if (find_feed(m, plan->fetch[i]) < 0) need(m, plan->fetch[i].node);
    mark(m);
    for (int64_t id = 0; id < plan->graph->num_nodes; id++)
        if (m->needed[id]) MST_TRY(import_node(m, plan->graph->node[id]));
    for (int i = 0; i < plan->num_fetches; i++) MST_TRY(import_fetch(m, i));
    return mst_plan_sweep(plan);
}

mst_status mst_plan_prune(mst_plan *plan) {
    importer m = {.plan = plan};
    mst_status status = import_all(&m);
    free(m.feed_of);
    free(m.next_feed);
    free(m.needed);
    free(m.ordered);
    free(m.node_of);
    free(m.value_of);
    free(m.stack);
    return status;
}
