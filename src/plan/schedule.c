/* schedule: one order for all nodes, that each device then keeps for its own.
 *
 * A node's phase counts the writers that it comes after: the most on any path of sources and control sources to it. In
 * the order of (phase, readers before writers, number) sources still come first, and the rule of variables holds: a
 * reader sees all writes of earlier phases and none of its own. A counting sort does it in one pass. Where a writer
 * reads what another writer of its phase changes before it, it is given a copy. */
#include <stdlib.h>
#include <string.h>

#include "op/op.h"
#include "plan/plan.h"

extern const mst_op mst_op_identity;

static mst_status no_memory(void) {
    return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a plan");
}

void mst_plan_phases(mst_plan *plan) {
    for (int64_t i = 0; i < plan->num_nodes; i++) {
        mst_plan_node *node = &plan->node[i];
        node->phase = 0;
        for (int k = 0; k < node->num_src + node->num_control; k++) {
            int32_t from = k < node->num_src ? plan->value[node->src[k]].node : node->control[k - node->num_src];
            int32_t phase = plan->node[from].phase + plan->node[from].writer;
            if (phase > node->phase) node->phase = phase;
        }
    }
}

static mst_status sort(mst_plan *plan) {
    int32_t phases = 1;
    for (int64_t i = 0; i < plan->num_nodes; i++)
        if (plan->node[i].phase >= phases) phases = plan->node[i].phase + 1;
    int64_t *start = calloc((size_t)phases * 2 + 1, sizeof *start);
    free(plan->order);
    plan->order = calloc((size_t)plan->num_nodes + 1, sizeof *plan->order);
    if (!start || !plan->order) {
        free(start);
        return no_memory();
    }
    for (int64_t i = 0; i < plan->num_nodes; i++)
        if (!plan->node[i].dead) start[plan->node[i].phase * 2 + plan->node[i].writer + 1]++;
    for (int32_t k = 0; k < phases * 2; k++) start[k + 1] += start[k];
    plan->num_order = start[phases * 2];
    for (int64_t i = 0; i < plan->num_nodes; i++) {
        mst_plan_node *node = &plan->node[i];
        if (node->dead) continue;
        node->position = (int32_t)start[node->phase * 2 + node->writer]++;
        plan->order[node->position] = (int32_t)i;
    }
    free(start);
    return MST_OK;
}

/* ---- writers that read ---- */

/* SOURCE, that of writer N, is read before any writer of its phase: a view by becoming a copy, else by a copy of it. */
static mst_status read_early(mst_plan *plan, int32_t n, int source) {
    int32_t value = plan->node[n].src[source], added;
    mst_plan_node *maker = &plan->node[plan->value[value].node];
    if ((maker->op->flags & MST_OP_VIEW) && !maker->writer) {
        maker->materialize = true;
        return MST_OK;
    }
    mst_plan_node copy = {.op = &mst_op_identity,
                          .name = mst_arena_print(&plan->memory, "%s/read", maker->name),
                          .asked = "",
                          .num_src = 1,
                          .num_dst = 1,
                          .device = plan->node[n].device,
                          .phase = plan->node[n].phase,
                          .materialize = true};
    if (!copy.name) return no_memory();
    const mst_spec spec = plan->value[value].spec;
    MST_TRY(mst_plan_add(plan, &copy, &value, &spec, &added));
    plan->node[n].src[source] = plan->node[added].dst;
    return MST_OK;
}

/* A writer that takes the value of a variable is its reader too: it must not see what another writer of its phase, that
 * comes before it, has written. */
static mst_status read_before_writes(mst_plan *plan, int32_t *variable_of, int32_t *written) {
    for (int64_t k = 0; k < plan->num_order; k++) {
        const int32_t n = plan->order[k];
        const mst_plan_node *node = &plan->node[n];
        if (node->op->flags & MST_OP_VARIABLE) variable_of[node->dst] = node->dst;
        if (node->op->flags & MST_OP_VIEW) variable_of[node->dst] = variable_of[node->src[0]];
        for (int i = 0; i < node->num_src && node->writer; i++) {
            const int32_t value = node->src[i], variable = variable_of[value];
            if (variable < 0 || mst_plan_shape_only(node, i) || mst_plan_writes(node, i)) continue;
            if (written[variable] != node->phase) continue;
            MST_TRY(read_early(plan, n, i));
            node = &plan->node[n];
        }
        for (int i = 0; i < node->num_src && node->writer; i++)
            if (mst_plan_writes(node, i) && variable_of[node->src[i]] >= 0)
                written[variable_of[node->src[i]]] = node->phase;
    }
    return MST_OK;
}

mst_status mst_plan_schedule(mst_plan *plan) {
    mst_plan_phases(plan);
    MST_TRY(sort(plan));
    const int64_t nodes = plan->num_nodes;
    const size_t values = (size_t)plan->num_values + 1;
    int32_t *variable_of = malloc(values * sizeof *variable_of), *written = malloc(values * sizeof *written);
    mst_status status = variable_of && written ? MST_OK : no_memory();
    if (!status) {
        memset(variable_of, -1, values * sizeof *variable_of);
        memset(written, -1, values * sizeof *written);
        status = read_before_writes(plan, variable_of, written);
    }
    free(variable_of);
    free(written);
    return status || plan->num_nodes == nodes ? status : sort(plan);
}
