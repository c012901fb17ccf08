/* schedule: one order for all nodes, that each device then keeps for its own.
 *
 * A node's phase counts the writers that it comes after: the most on any path of sources and control sources to it. In
 * the order of (phase, readers before writers, number) sources still come first, and the rule of variables holds: a
 * reader sees all writes of earlier phases and none of its own. A counting sort does it in one pass. */
#include <stdlib.h>

#include "plan/plan.h"

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

mst_status mst_plan_schedule(mst_plan *plan) {
    mst_plan_phases(plan);
    int32_t phases = 1;
    for (int64_t i = 0; i < plan->num_nodes; i++)
        if (plan->node[i].phase >= phases) phases = plan->node[i].phase + 1;
    int64_t *start = calloc((size_t)phases * 2 + 1, sizeof *start);
    plan->order = malloc(((size_t)plan->num_nodes + 1) * sizeof *plan->order);
    if (!start || !plan->order) {
        free(start);
        return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a plan");
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
