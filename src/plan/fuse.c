/* fuse: several nodes into one kernel. Each rule looks at the last node of its pattern; that node becomes the fused
 * one, so that it stays behind all of its sources. */
#include "plan/plan.h"

static bool (*const rules[])(mst_plan *plan, mst_plan_node *node) = {NULL};

mst_status mst_plan_fuse(mst_plan *plan) {
    bool changed = false;
    for (int64_t i = 0; i < plan->num_nodes; i++)
        for (int r = 0; rules[r] && !plan->node[i].dead; r++) changed |= rules[r](plan, &plan->node[i]);
    return changed ? mst_plan_sweep(plan) : MST_OK;
}
