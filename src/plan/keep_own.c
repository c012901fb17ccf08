/* keep_own: keeps those nodes of the common order of all tasks that the devices of this task run.
 *
 * All tasks come here with the same nodes in the same order. The tasks compare a hash of it before the first run
 * (run/part.h). With one common order receives cannot wait for sends in a circle. From here on a task plans only its
 * own nodes, without the kernels, the memory and the actions of the other tasks. */
#include <string.h>

#include "base/no_memory.h"
#include "base/rng.h"
#include "plan/plan.h"

static uint64_t hash_value(uint64_t hash, const mst_spec *spec) {
    hash = mst_rng_mix(hash, (uint64_t)spec->dtype << 8 | (uint64_t)spec->shape.ndim);
    for (int i = 0; i < spec->shape.ndim; i++) hash = mst_rng_mix(hash, (uint64_t)spec->shape.dim[i]);
    return hash;
}

static uint64_t hash_node(uint64_t hash, const mst_plan *plan, const mst_plan_node *node) {
    hash = mst_rng_mix(hash, mst_rng_hash_name(node->op->name));
    hash = mst_rng_mix(hash, mst_rng_hash_name(node->name));
    hash = mst_rng_mix(hash, (uint64_t)node->device << 32 | (uint32_t)node->group);
    hash = mst_rng_mix(hash, (uint64_t)node->stream << 32 | (uint64_t)node->peer << 1 | node->region);
    for (int i = 0; i < node->num_src; i++) hash = mst_rng_mix(hash, (uint64_t)node->src[i]);
    for (int i = 0; i < node->num_control; i++) hash = mst_rng_mix(hash, (uint64_t)node->control[i]);
    for (int i = 0; i < node->num_dst; i++) hash = hash_value(hash, &plan->value[node->dst + i].spec);
    return hash;
}

static uint64_t hash_order(const mst_plan *plan) {
    uint64_t hash = mst_rng_mix((uint64_t)plan->num_order, (uint64_t)plan->num_streams << 1 | plan->commits);
    for (int64_t k = 0; k < plan->num_order; k++) hash = hash_node(hash, plan, &plan->node[plan->order[k]]);
    return hash;
}

/* Whether a device does anything for NODE. */
static bool does_something(const mst_plan *plan, const mst_plan_node *node) {
    return !mst_plan_is_silent(plan, node) && (node->op != &mst_op_fetch || node->num_src > 0);
}

/* Finds which tasks run a node, which task needs each feed, and which gives each fetch. */
static mst_status list_tasks(mst_plan *plan) {
    const int32_t tasks = plan->host->devices->num_tasks;
    plan->runs_on = mst_arena_alloc(&plan->memory, (size_t)tasks * sizeof *plan->runs_on);
    plan->feed_task = mst_arena_alloc(&plan->memory, (size_t)(plan->num_feeds + 1) * sizeof *plan->feed_task);
    plan->fetch_task = mst_arena_alloc(&plan->memory, (size_t)(plan->num_fetches + 1) * sizeof *plan->fetch_task);
    if (!plan->runs_on || !plan->feed_task || !plan->fetch_task) return MST_NO_MEMORY("for a plan");
    memset(plan->runs_on, 0, (size_t)tasks * sizeof *plan->runs_on);
    memset(plan->feed_task, -1, (size_t)(plan->num_feeds + 1) * sizeof *plan->feed_task);
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        const int32_t task = mst_plan_task(plan, node);
        if (does_something(plan, node)) plan->runs_on[task] = true;
        if (node->op == &mst_op_feed) plan->feed_task[node->port] = task;
    }
    for (int i = 0; i < plan->num_fetches; i++) {
        const mst_plan_node *fetch = &plan->node[plan->fetch_node[i]];
        plan->fetch_task[i] = fetch->num_src ? mst_plan_task(plan, fetch) : -1;
    }
    return MST_OK;
}

mst_status mst_plan_keep_own(mst_plan *plan) {
    int64_t kept = 0;
    if (!mst_plan_has_tasks(plan)) return MST_OK;
    MST_TRY(list_tasks(plan));
    plan->order_hash = hash_order(plan);
    for (int64_t k = 0; k < plan->num_order; k++)
        if (!mst_plan_is_in_another_task(plan, &plan->node[plan->order[k]])) plan->order[kept++] = plan->order[k];
    plan->num_order = kept;
    return MST_OK;
}
