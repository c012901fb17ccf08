/* select: for each node the first fast kernel that does it, else the reference kernel. */
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

static bool lists(const mst_kernel *kernel, const mst_device *device, const mst_op *op) {
    if (strcmp(kernel->device_type, device->type->name) != 0) return false;
    if (!kernel->ops) return true;
    for (int i = 0; kernel->ops[i]; i++)
        if (strcmp(kernel->ops[i], op->name) == 0) return true;
    return false;
}

static mst_status select_node(mst_plan *plan, mst_plan_node *node, mst_spec *src, mst_spec *dst) {
    const mst_plan_host *host = plan->host;
    if (mst_plan_is_silent(plan, node)) return MST_OK;
    if (node->op == &mst_op_feed) node->run = host->feed;
    if (node->op == &mst_op_fetch) node->run = host->fetch;
    if (node->op == &mst_op_send) node->run = host->send;
    if (node->op == &mst_op_receive) node->run = host->receive;
    if (node->run) return MST_OK;
    const mst_device *device = &host->devices->device[node->device];
    mst_infer c = mst_plan_infer_context(plan, node, src, dst);
    for (int i = 0; mst_kernel_table[i] && !node->run; i++) {
        const mst_kernel *kernel = mst_kernel_table[i];
        if (!lists(kernel, device, node->op) || !(node->run = kernel->select(&c, device->num_threads))) continue;
        node->kernel = kernel;
        if (kernel->prepare) MST_TRY(kernel->prepare(&c, device->num_threads, &node->state, &node->workspace));
    }
    if (node->run) return MST_OK;
    node->run = node->op->reference;
    if (node->op->workspace) node->workspace = node->op->workspace(&c, device->num_threads);
    return MST_OK;
}

mst_status mst_plan_select(mst_plan *plan) {
    int32_t most = 1;
    for (int64_t i = 0; i < plan->num_nodes; i++) {
        if (plan->node[i].num_src > most) most = plan->node[i].num_src;
        if (plan->node[i].num_dst > most) most = plan->node[i].num_dst;
    }
    mst_spec *src = calloc((size_t)most, sizeof *src), *dst = calloc((size_t)most, sizeof *dst);
    mst_status status = src && dst ? MST_OK : MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a plan");
    for (int64_t i = 0; i < plan->num_nodes && !status; i++)
        if (!plan->node[i].dead) {
            status = select_node(plan, &plan->node[i], src, dst);
            if (status) mst_error_at(plan->node[i].name, NULL);
        }
    free(src);
    free(dst);
    return status;
}
