/* fuse: several nodes into one kernel. Each rule looks at the last node of its pattern; that node becomes the fused
 * one, so that it stays behind all of its sources. */
#include "base/no_memory.h"
#include "op/list.h"
#include "op/matrix/fused_matmul.h"
#include "op/op.h"
#include "plan/plan.h"

/* The node that makes VALUE, where USER alone uses it, on the same device and the same side of the gate; else NULL. */
static mst_plan_node *sole_maker(mst_plan *plan, const mst_plan_node *user, int32_t value) {
    mst_plan_node *maker = &plan->node[plan->value[value].node];
    bool apart = maker->device != user->device || maker->region != user->region || maker->num_control;
    return plan->value[value].num_uses == 1 && !apart && !plan->value[value].constant ? maker : NULL;
}

static mst_status become(mst_plan *plan, mst_plan_node *node, const mst_fused_matmul_options *options, int num_src,
                         const int32_t *src, mst_plan_node *absorbed) {
    node->options = mst_arena_copy(&plan->memory, options, sizeof *options);
    node->src = mst_arena_copy(&plan->memory, src, (size_t)num_src * sizeof *src);
    if (!node->options || !node->src) return MST_NO_MEMORY("for a plan");
    node->op = &mst_op_fused_matmul;
    node->num_src = num_src;
    absorbed->dead = true;
    return MST_OK;
}

/* add(matmul(a, b), bias), of floats */
static mst_status fuse_bias(mst_plan *plan, mst_plan_node *node) {
    if (node->op != &mst_op_add || node->num_control) return MST_OK;
    for (int i = 0; i < 2; i++) {
        mst_plan_node *matmul = sole_maker(plan, node, node->src[i]);
        const mst_spec *product = &plan->value[node->src[i]].spec, *bias = &plan->value[node->src[1 - i]].spec;
        if (!matmul || matmul->op != &mst_op_matmul || product->shape.ndim != 2 || bias->shape.ndim != 1 ||
            bias->shape.dim[0] != product->shape.dim[1] || !mst_dtype_is_float(product->dtype))
            continue;
        /* both must be matrices: batches are not fused */
        if (plan->value[matmul->src[0]].spec.shape.ndim != 2 || plan->value[matmul->src[1]].spec.shape.ndim != 2)
            continue;
        const mst_matmul_options *o = matmul->options;
        mst_fused_matmul_options fused = {.transpose_a = o->transpose_a, .transpose_b = o->transpose_b};
        return become(plan, node, &fused, 3, (const int32_t[]){matmul->src[0], matmul->src[1], node->src[1 - i]},
                      matmul);
    }
    return MST_OK;
}

/* relu(fused_matmul(a, b, bias)) */
static mst_status fuse_activation(mst_plan *plan, mst_plan_node *node) {
    if ((node->op != &mst_op_relu && node->op != &mst_op_relu6) || node->num_control) return MST_OK;
    mst_plan_node *matmul = sole_maker(plan, node, node->src[0]);
    if (!matmul || matmul->op != &mst_op_fused_matmul) return MST_OK;
    mst_fused_matmul_options fused = *(const mst_fused_matmul_options *)matmul->options;
    if (fused.activation != MST_FUSED_NONE) return MST_OK;
    fused.activation = node->op == &mst_op_relu ? MST_FUSED_RELU : MST_FUSED_RELU6;
    return become(plan, node, &fused, 3, matmul->src, matmul);
}

static mst_status (*const rules[])(mst_plan *plan, mst_plan_node *node) = {fuse_bias, fuse_activation};

mst_status mst_plan_fuse(mst_plan *plan) {
    for (int64_t i = 0; i < plan->num_nodes; i++)
        for (size_t r = 0; r < sizeof rules / sizeof *rules && !plan->node[i].dead; r++)
            MST_TRY(rules[r](plan, &plan->node[i]));
    return mst_plan_sweep(plan);
}
