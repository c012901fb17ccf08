/* residual: lets a batch norm at the end of a residual block add the other summand to its output, part by part, while
 * each part is in the cache:
 *
 *     n, mean, variance = batch_norm(h, ...)     y, mean, variance = batch_norm_add(h, ..., x)
 *     y = add(n, x)
 *
 * This pass comes after the passes that look for batch norms. The bits are the same with and without this pass. */
#include "op/list.h"
#include "op/op.h"
#include "plan/plan.h"

/* The batch norm whose output 0 is source I of NODE, if NODE is its only reader and both run together; else NULL. */
static mst_plan_node *norm_of(mst_plan *plan, const mst_plan_node *node, int i) {
    const mst_plan_value *value = &plan->value[node->src[i]];
    mst_plan_node *norm = &plan->node[value->node];
    const bool together = norm->device == node->device && norm->region == node->region && norm->group < 0 &&
                          node->group < 0 && !norm->num_control && !node->num_control;
    const bool alone = value->num_uses == 1 && !value->constant && node->src[i] == norm->dst;
    return norm->op == &mst_op_batch_norm && together && alone ? norm : NULL;
}

/* Whether NORM can read VALUE. VALUE must be made before NORM in the order of nodes. It must not be in a variable,
 * because an assignment could change the variable in between. */
static bool can_read(const mst_plan *plan, const mst_plan_node *norm, int32_t value) {
    return plan->value[value].node < norm - plan->node && !mst_plan_in_variable(plan, value);
}

static mst_status residual_join(mst_plan *plan, mst_plan_node *node) {
    const mst_shape shape = plan->value[node->dst].spec.shape;
    for (int i = 0; i < 2; i++) {
        mst_plan_node *norm = norm_of(plan, node, i);
        const int32_t what = node->src[1 - i];
        if (!norm || !can_read(plan, norm, what) || !mst_shape_equal(plan->value[what].spec.shape, shape) ||
            !mst_shape_equal(plan->value[norm->dst].spec.shape, shape))
            continue;
        const int32_t src[] = {norm->src[0], norm->src[1], norm->src[2], what};
        MST_TRY(mst_plan_become(plan, norm, &mst_op_batch_norm_add, norm->options, 4, src));
        return mst_plan_become(plan, node, &mst_op_identity, node->options, 1, &norm->dst);
    }
    return MST_OK;
}

static bool has_norms(const mst_plan *plan) {
    for (int64_t n = 0; n < plan->num_nodes; n++)
        if (!plan->node[n].dead && plan->node[n].op == &mst_op_batch_norm) return true;
    return false;
}

mst_status mst_plan_residual(mst_plan *plan) {
    if (!has_norms(plan)) return MST_OK;
    MST_TRY(mst_plan_sweep(plan));
    MST_TRY(mst_plan_sort(plan));
    for (int64_t n = 0; n < plan->num_nodes; n++)
        if (!plan->node[n].dead && plan->node[n].op == &mst_op_add && !mst_plan_compiles(plan, &plan->node[n]))
            MST_TRY(residual_join(plan, &plan->node[n]));
    return mst_plan_sweep(plan);
}
