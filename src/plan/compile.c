/* compile: the array of calls that a device walks, with all addresses in place. Where a source is in the caller's
 * memory, the place of its pointer is noted, to be set when a run begins. */
#include <stdlib.h>

#include "plan/plan.h"

static mst_status add_array(mst_plan *plan, int32_t v, bool shape_only, mst_array *array) {
    const mst_plan_value *value = &plan->value[v];
    *array = (mst_array){.data = shape_only ? NULL : value->data,
                         .count = mst_shape_count(value->spec.shape),
                         .dtype = value->spec.dtype,
                         .shape = value->spec.shape};
    if (shape_only || value->where != MST_IN_FEED) return MST_OK;
    MST_TRY(mst_grow(&plan->patch, sizeof *plan->patch, plan->num_patches + 1, &plan->patch_capacity));
    plan->patch[plan->num_patches++] = (mst_patch){.data = &array->data, .feed = value->feed};
    return MST_OK;
}

static mst_status add_call(mst_plan *plan, mst_program *program, int32_t n) {
    const mst_plan_node *node = &plan->node[n];
    mst_array *array = mst_arena_alloc(&plan->memory, (size_t)(node->num_src + node->num_dst + 1) * sizeof *array);
    if (!array) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a plan");
    for (int i = 0; i < node->num_src; i++)
        MST_TRY(add_array(plan, node->src[i], mst_plan_shape_only(node, i), &array[i]));
    for (int i = 0; i < node->num_dst; i++) MST_TRY(add_array(plan, node->dst + i, false, &array[node->num_src + i]));
    program->item[program->num_items++] =
        (mst_call_item){.run = node->run,
                        .node = n,
                        .args = {.op = node->op,
                                 .options = node->options,
                                 .name = node->name,
                                 .num_src = node->num_src,
                                 .src = array,
                                 .num_dst = node->num_dst,
                                 .dst = array + node->num_src,
                                 .workspace = program->arena + program->arena_bytes,
                                 .state = node->state,
                                 .num_threads = plan->host->devices->device[node->device].num_threads}};
    return MST_OK;
}

/* Variables whose values must be there before the first run, and those that get one. */
static mst_status list_variables(mst_plan *plan) {
    plan->read = mst_arena_alloc(&plan->memory, ((size_t)plan->num_values + 1) * sizeof *plan->read);
    plan->written = mst_arena_alloc(&plan->memory, ((size_t)plan->num_values + 1) * sizeof *plan->written);
    uint8_t *seen = mst_arena_alloc(&plan->memory, (size_t)plan->num_values + 1);
    if (!plan->read || !plan->written || !seen) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a plan");
    enum { READ = 1, WRITTEN = 2 };
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        for (int i = 0; i < node->num_src; i++) {
            int32_t value = node->src[i];
            if (!mst_plan_is_variable(plan, value) || mst_plan_shape_only(node, i)) continue;
            const mst_node *variable = plan->node[plan->value[value].node].origin;
            bool overwrites = mst_plan_writes(node, i) && (node->op->flags & MST_OP_OVERWRITES);
            if (overwrites && !(seen[value] & WRITTEN)) {
                seen[value] |= WRITTEN;
                plan->written[plan->num_written++] = variable;
            } else if (!overwrites && !(seen[value] & (READ | WRITTEN))) {
                seen[value] |= READ;
                plan->read[plan->num_read++] = variable;
            }
        }
    }
    return MST_OK;
}

mst_status mst_plan_compile(mst_plan *plan) {
    for (int d = 0; d < plan->host->devices->count; d++) {
        mst_program *program = &plan->program[d];
        program->item = calloc((size_t)program->num_nodes + 1, sizeof *program->item);
        if (!program->item) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a plan");
        for (int64_t k = 0; k < program->num_nodes; k++)
            if (plan->node[program->node[k]].run) MST_TRY(add_call(plan, program, program->node[k]));
    }
    return list_variables(plan);
}
