/* compile: writes for each device its list of actions in a step. Some actions are runs of calls for the backend.
 * Between them are the actions of the executor: waits, points that others wait for, feeds, receives, fetches,
 * exchanges, and the gate. */
#include <stdlib.h>

#include "plan/compiled.h"
#include "plan/plan.h"

static mst_status add_action(mst_program *program, mst_action action) {
    MST_TRY(mst_grow(&program->action, sizeof action, program->num_actions + 1, &program->action_capacity));
    program->action[program->num_actions++] = action;
    return MST_OK;
}

static mst_status add_call(mst_program *program, int32_t instance) {
    MST_TRY(mst_grow(&program->call, sizeof instance, program->num_calls + 1, &program->call_capacity));
    const int32_t call = (int32_t)program->num_calls++;
    program->call[call] = instance;
    mst_action *last = program->num_actions ? &program->action[program->num_actions - 1] : NULL;
    if (last && last->kind == MST_DO_RUN) {
        last->end = call + 1;
        return MST_OK;
    }
    return add_action(program, (mst_action){.kind = MST_DO_RUN, .first = call, .end = call + 1});
}

/* Adds the waits of one instance. One wait for each other device is enough: the wait for its last point. */
static mst_status add_waits(mst_plan *plan, mst_program *program, const mst_plan_instance *instance) {
    const int64_t first = program->num_actions;
    for (int32_t w = instance->wait; w >= 0; w = plan->wait[w].next) {
        const mst_plan_instance *from = &plan->instance[plan->wait[w].from];
        int64_t k = first;
        while (k < program->num_actions && program->action[k].device != from->device) k++;
        if (k == program->num_actions)
            MST_TRY(add_action(program, (mst_action){MST_DO_WAIT, from->device, from->point, 0}));
        else if (program->action[k].first < from->point)
            program->action[k].first = from->point;
    }
    return MST_OK;
}

/* Whether the executor runs NODE by an action of its own; *OUT is the kind of action. */
static bool find_action(const mst_plan *plan, const mst_plan_node *node, mst_action_kind *out) {
    if (node->op == &mst_op_fetch && node->num_src > 0)
        *out = MST_DO_FETCH;
    else if (node->op == &mst_op_receive)
        *out = MST_DO_RECEIVE;
    else if (node->op == &mst_op_send && node->stream)
        *out = MST_DO_SEND;
    else if (node->op == &mst_op_feed && plan->value[node->dst].space != MST_IN_FEED)
        *out = MST_DO_FEED;
    else if (node->op == &mst_op_exchange_start)
        *out = MST_DO_START;
    else if (node->op == &mst_op_exchange_wait)
        *out = MST_DO_AWAIT;
    else
        return false;
    return true;
}

/* Whether the backend of a device that compiles runs NODE: a program, or an assignment behind the gate. */
static bool is_compiled(const mst_plan *plan, const mst_plan_node *node) {
    return mst_plan_compiles(plan, node) && (node->op == &mst_op_compiled || node->writer);
}

static mst_status add_instance(mst_plan *plan, mst_program *program, int32_t i) {
    const mst_plan_instance *instance = &plan->instance[i];
    const mst_plan_node *node = &plan->node[instance->node];
    MST_TRY(add_waits(plan, program, instance));
    mst_action_kind kind;
    if (find_action(plan, node, &kind))
        MST_TRY(add_action(program, (mst_action){.kind = kind, .first = instance->node}));
    else if (node->run || is_compiled(plan, node))
        MST_TRY(add_call(program, i));
    if (instance->point) MST_TRY(add_action(program, (mst_action){.kind = MST_DO_REACH, .first = instance->point}));
    return MST_OK;
}

static mst_status compile_device(mst_plan *plan, mst_program *program) {
    bool gate = !plan->commits;
    for (int64_t k = 0; k < program->num_instances; k++) {
        const mst_plan_node *node = &plan->node[plan->instance[program->instance[k]].node];
        if (!gate && node->region == MST_COMMIT) {
            MST_TRY(add_action(program, (mst_action){.kind = MST_DO_GATE}));
            gate = true;
        }
        MST_TRY(add_instance(plan, program, program->instance[k]));
    }
    /* A device that has nothing to do behind the gate must come to the gate too, because the others wait for all
     * devices. */
    if (!gate && program->num_actions) MST_TRY(add_action(program, (mst_action){.kind = MST_DO_GATE}));
    return MST_OK;
}

/* Marks the states that are read, which must have values, and the states that are written. A state that is overwritten
 * before it is read needs no value. */
static void mark_states(mst_plan *plan) {
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        for (int i = 0; i < node->num_src; i++) {
            if (!mst_plan_is_variable(plan, node->src[i]) || mst_plan_shape_only(node, i)) continue;
            mst_plan_state *state = &plan->state[plan->value[node->src[i]].index];
            if (!mst_device_is_here(plan->host->devices, state->device))
                continue; /* a node that only groups others and reads no value */
            const bool writes = mst_plan_writes(node, i);
            if (!(writes && (node->op->flags & MST_OP_OVERWRITES)) && !state->writes) state->reads = true;
            state->writes |= writes;
            state->used = true;
        }
    }
}

mst_status mst_plan_compile(mst_plan *plan) {
    for (int d = 0; d < plan->host->devices->count; d++) MST_TRY(compile_device(plan, &plan->program[d]));
    mark_states(plan);
    return MST_OK;
}
