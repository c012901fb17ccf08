/* select: chooses for each node the first fast kernel that can run it among the engines of its device, else the op's
 * reference kernel. A node that a group of devices runs is prepared for each of them, and the bodies of a node are
 * planned. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "graph/body.h"
#include "plan/bodies.h"

static bool has_engine(const mst_device_type *type, const char *engine) {
    for (int i = 0; type->engines[i]; i++)
        if (strcmp(type->engines[i], engine) == 0) return true;
    return false;
}

static bool lists(const mst_kernel *kernel, const mst_device *device, const mst_op *op) {
    if (!has_engine(device->type, kernel->engine)) return false;
    if (!kernel->ops) return true;
    for (int i = 0; kernel->ops[i]; i++)
        if (strcmp(kernel->ops[i], op->name) == 0) return true;
    return false;
}

/* Prepares KERNEL for the node: one state or, for a node that a group runs, one for each device of the group. */
static mst_status select_prepare(mst_plan *plan, mst_plan_node *node, const mst_infer *c, const mst_kernel *kernel) {
    const mst_device *device = plan->host->devices->device;
    node->kernel = kernel;
    if (!kernel->prepare) return MST_OK;
    if (node->group < 0) {
        const int threads = device[node->device].num_threads;
        return kernel->prepare(c, threads, &node->state, &node->workspace);
    }
    const mst_plan_group *group = &plan->group[node->group];
    void **states = mst_arena_alloc(&plan->memory, (size_t)group->count * sizeof *states);
    if (!states) return MST_NO_MEMORY("for a plan");
    node->state = states;
    for (int32_t i = 0; i < group->count; i++) {
        size_t workspace = 0;
        MST_TRY(kernel->prepare(c, device[group->device[i]].num_threads, &states[i], &workspace));
        if (workspace > node->workspace) node->workspace = workspace;
    }
    return MST_OK;
}

static bool is_port(const mst_op *op) {
    return op == &mst_op_feed || op == &mst_op_fetch || op == &mst_op_send || op == &mst_op_receive ||
           op == &mst_op_exchange_start || op == &mst_op_exchange_wait;
}

static mst_status select_node(mst_plan *plan, mst_plan_node *node, mst_spec *src, mst_spec *dst) {
    if (mst_plan_is_silent(plan, node) || is_port(node->op) || mst_plan_compiles(plan, node)) return MST_OK;
    const mst_device *device = &plan->host->devices->device[node->device];
    mst_infer c = mst_plan_infer_context(plan, node, src, dst);
    for (int i = 0; mst_kernel_table[i] && !node->run; i++) {
        const mst_kernel *kernel = mst_kernel_table[i];
        if (!lists(kernel, device, node->op) || !(node->run = kernel->select(&c, device->num_threads))) continue;
        MST_TRY(select_prepare(plan, node, &c, kernel));
    }
    if (node->run) return MST_OK;
    if (!node->op->reference || !has_engine(device->type, "reference"))
        return MST_FAIL(MST_UNIMPLEMENTED, "%s '%s': %s has no kernel for it", node->op->name, node->name,
                        device->text);
    node->run = node->op->reference;
    if (node->op->workspace) node->workspace = node->op->workspace(&c, device->num_threads);
    return mst_op_has_body(node->op) ? mst_plan_make_bodies(plan, node) : MST_OK;
}

mst_status mst_plan_select(mst_plan *plan) {
    int32_t most = 1;
    bool has_bodies = false;
    for (int64_t i = 0; i < plan->num_nodes; i++) {
        if (plan->node[i].num_src > most) most = plan->node[i].num_src;
        if (plan->node[i].num_dst > most) most = plan->node[i].num_dst;
        has_bodies = has_bodies || mst_op_has_body(plan->node[i].op);
    }
    if (has_bodies) MST_TRY(mst_plan_sweep(plan)); /* plans of bodies do not compute outputs without uses */
    mst_spec *src = calloc((size_t)most, sizeof *src), *dst = calloc((size_t)most, sizeof *dst);
    mst_status status = src && dst ? MST_OK : MST_NO_MEMORY("for a plan");
    for (int64_t i = 0; i < plan->num_nodes && !status; i++)
        if (!plan->node[i].dead && !mst_plan_is_in_another_task(plan, &plan->node[i])) {
            status = select_node(plan, &plan->node[i], src, dst);
            if (status) mst_error_at(plan->node[i].name, NULL);
        }
    free(src);
    free(dst);
    return status;
}
