/* layout: puts constants into the layout that their kernel reads fastest. An example is the right factor of a product,
 * in the blocks that the inner loop walks over. So it is rearranged once, and not in each step. Nodes of one plan that
 * need the same constant in the same layout share it. If several tasks share the plan, constants stay as they are,
 * because the fastest layout depends on the machine. */
#include <string.h>

#include "base/no_memory.h"
#include "op/list.h"
#include "op/op.h"
#include "op/state/constant.h"
#include "plan/plan.h"

/* A constant that was put into another layout: VALUE before, PACKED after. */
typedef struct packing {
    int32_t value, packed;
    struct packing *next;
} packing;

typedef struct layout {
    mst_plan *plan;
    packing *done;
} layout;

/* A constant on DEVICE that was made before from the same VALUE and has the same bytes as PACKED; -1: none. */
static int32_t layout_find(const layout *l, int32_t value, int32_t device, const mst_tensor *packed) {
    const mst_plan *plan = l->plan;
    for (const packing *p = l->done; p; p = p->next) {
        const mst_plan_value *known = &plan->value[p->packed];
        if (p->value == value && plan->node[known->node].device == device &&
            mst_tensor_bytes(known->constant) == mst_tensor_bytes(packed) &&
            memcmp(mst_tensor_data(known->constant), mst_tensor_data(packed), mst_tensor_bytes(packed)) == 0)
            return p->packed;
    }
    return -1;
}

/* Adds PACKED as a constant on DEVICE, and takes ownership of it. */
static mst_status layout_add(layout *l, int32_t value, int32_t device, mst_tensor *packed, int32_t *out) {
    mst_plan *plan = l->plan;
    packing *p = mst_arena_alloc(&plan->memory, sizeof *p);
    mst_constant_options *options = mst_arena_alloc(&plan->memory, sizeof *options);
    const char *name = mst_arena_print(&plan->memory, "%s/packed", plan->node[plan->value[value].node].name);
    const mst_plan_node node = {
        .op = &mst_op_constant, .options = options, .name = name, .num_dst = 1, .device = device, .group = -1};
    const mst_spec spec = {.dtype = mst_tensor_dtype(packed), .shape = mst_tensor_shape(packed)};
    int32_t added;
    mst_status status =
        p && options && name ? mst_plan_add(plan, &node, NULL, &spec, &added) : MST_NO_MEMORY("for a plan");
    if (status) {
        mst_tensor_release(packed);
        return status;
    }
    options->value = packed;
    *out = plan->node[added].dst;
    plan->value[*out].space = MST_IN_CONSTANT;
    plan->value[*out].constant = packed;
    *p = (packing){.value = value, .packed = *out, .next = l->done};
    l->done = p;
    return MST_OK;
}

static mst_status pack_source(layout *l, int32_t n, int i) {
    mst_plan_node *node = &l->plan->node[n];
    const int32_t value = node->src[i];
    mst_tensor *packed = NULL;
    MST_TRY(node->kernel->pack(node->state, i, l->plan->value[value].constant, &packed, &node->workspace));
    if (!packed) return MST_OK;
    int32_t as = layout_find(l, value, node->device, packed);
    if (as < 0)
        MST_TRY(layout_add(l, value, node->device, packed, &as));
    else
        mst_tensor_release(packed);
    l->plan->node[n].src[i] = as; /* no pointer to the node is used here: the array of nodes may have moved */
    return MST_OK;
}

mst_status mst_plan_layout(mst_plan *plan) {
    layout l = {.plan = plan};
    if (mst_plan_has_tasks(plan)) return MST_OK;
    for (int32_t n = 0, count = (int32_t)plan->num_nodes; n < count; n++) {
        const mst_plan_node *node = &plan->node[n];
        if (node->dead || node->group >= 0 || !node->kernel || !node->kernel->pack) continue;
        for (int i = 0; i < plan->node[n].num_src; i++)
            if (plan->value[plan->node[n].src[i]].constant) MST_TRY(pack_source(&l, n, i));
    }
    return l.done ? mst_plan_sweep(plan) : MST_OK;
}
