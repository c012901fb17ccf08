/* partition: the order cut by devices. Where a device uses what another one of its domain has made, it waits for it:
 * each device counts how far it has come (a point after each node that other devices wait for), and one wait for a
 * later point stands for all earlier ones. Behind the gate no device waits for what was made before it.
 *
 * All waits go from a later place of the common order to an earlier one, so devices cannot wait for each other in a
 * circle. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "plan/map.h"
#include "plan/plan.h"

typedef struct cut {
    mst_plan *plan;
    mst_map waited;  /* (device, other) -> 1 + place in the order up to which it knows the other to be done */
    mst_map settled; /* (silent node, device) -> 1: the device waits for all that the node comes after already */
    int32_t *met;    /* by node: the last node for which it was visited */
    int32_t *needed; /* nodes that the visited one runs after */
    int64_t num_needed, capacity;
} cut;

/* ---- instances ---- */

static int32_t parts_of(const mst_plan *plan, const mst_plan_node *node) {
    return node->group < 0 ? 1 : plan->group[node->group].count;
}

static mst_status make_instances(mst_plan *plan) {
    int64_t count = 0;
    plan->instance_of = malloc(((size_t)plan->num_nodes + 1) * sizeof *plan->instance_of);
    if (!plan->instance_of) return MST_NO_MEMORY("for a plan");
    memset(plan->instance_of, -1, ((size_t)plan->num_nodes + 1) * sizeof *plan->instance_of);
    for (int64_t k = 0; k < plan->num_order; k++) {
        plan->instance_of[plan->order[k]] = (int32_t)count;
        count += parts_of(plan, &plan->node[plan->order[k]]);
    }
    plan->instance = calloc((size_t)count + 1, sizeof *plan->instance);
    if (!plan->instance) return MST_NO_MEMORY("for a plan");
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        for (int32_t i = 0; i < parts_of(plan, node); i++)
            plan->instance[plan->num_instances++] =
                (mst_plan_instance){.node = plan->order[k],
                                    .device = node->group < 0 ? node->device : plan->group[node->group].device[i],
                                    .part = i,
                                    .wait = -1};
    }
    return MST_OK;
}

/* ---- waits ---- */

static mst_status add_wait(cut *c, int32_t instance, int32_t from) {
    mst_plan *plan = c->plan;
    MST_TRY(mst_grow(&plan->wait, sizeof *plan->wait, plan->num_waits + 1, &plan->wait_capacity));
    plan->wait[plan->num_waits] = (mst_plan_wait){.from = from, .next = plan->instance[instance].wait};
    plan->instance[instance].wait = (int32_t)plan->num_waits++;
    plan->instance[from].point = 1; /* numbered later */
    return MST_OK;
}

static mst_status come_after_instance(cut *c, int32_t instance, int32_t from) {
    const mst_plan *plan = c->plan;
    const int32_t device = plan->instance[instance].device, other = plan->instance[from].device;
    const int32_t place = plan->node[plan->instance[from].node].position + 1;
    if (device == other) return MST_OK;
    int32_t *known = mst_map_at(&c->waited, device, other, 0);
    if (!known) return MST_NO_MEMORY("for a plan");
    if (*known >= place) return MST_OK;
    *known = place;
    return add_wait(c, instance, from);
}

/* Collects what node USER runs after: FROM or, where nothing runs for that, the nodes that FROM comes after. */
static mst_status collect(cut *c, int32_t user, int32_t from) {
    const mst_plan *plan = c->plan;
    const mst_plan_node *node = &plan->node[from];
    if (c->met[from] == user || (plan->node[user].region == MST_COMMIT && node->region == MST_BODY)) return MST_OK;
    c->met[from] = user;
    if (!mst_plan_is_silent(plan, node)) {
        MST_TRY(mst_grow(&c->needed, sizeof *c->needed, c->num_needed + 1, &c->capacity));
        c->needed[c->num_needed++] = from;
        return MST_OK;
    }
    if (plan->node[user].group < 0) {
        int32_t *settled = mst_map_at(&c->settled, from, plan->node[user].device, 0);
        if (!settled) return MST_NO_MEMORY("for a plan");
        if (*settled) return MST_OK;
        *settled = 1;
    }
    for (int i = 0; i < node->num_src; i++)
        if (!mst_plan_shape_only(node, i)) MST_TRY(collect(c, user, plan->value[node->src[i]].node));
    for (int i = 0; i < node->num_control; i++) MST_TRY(collect(c, user, node->control[i]));
    return MST_OK;
}

static mst_status visit(cut *c, int32_t n) {
    const mst_plan *plan = c->plan;
    const mst_plan_node *node = &plan->node[n];
    if (mst_plan_is_silent(plan, node) || (node->op == &mst_op_fetch && node->num_src == 0)) return MST_OK;
    c->num_needed = 0;
    for (int i = 0; i < node->num_src; i++)
        if (!mst_plan_shape_only(node, i)) MST_TRY(collect(c, n, plan->value[node->src[i]].node));
    for (int i = 0; i < node->num_control; i++) MST_TRY(collect(c, n, node->control[i]));
    for (int32_t part = 0; part < parts_of(plan, node); part++)
        for (int64_t k = 0; k < c->num_needed; k++)
            for (int32_t i = 0; i < parts_of(plan, &plan->node[c->needed[k]]); i++)
                MST_TRY(come_after_instance(c, plan->instance_of[n] + part, plan->instance_of[c->needed[k]] + i));
    return MST_OK;
}

static mst_status add_waits(cut *c) {
    const mst_plan *plan = c->plan;
    c->met = malloc(((size_t)plan->num_nodes + 1) * sizeof *c->met);
    if (!c->met) return MST_NO_MEMORY("for a plan");
    memset(c->met, -1, ((size_t)plan->num_nodes + 1) * sizeof *c->met);
    for (int64_t k = 0; k < plan->num_order; k++) MST_TRY(visit(c, plan->order[k]));
    return MST_OK;
}

/* ---- programs ---- */

static mst_status emit(mst_plan *plan) {
    plan->program = calloc((size_t)plan->host->devices->count, sizeof *plan->program);
    if (!plan->program) return MST_NO_MEMORY("for a plan");
    for (int64_t k = 0; k < plan->num_instances; k++) {
        mst_plan_instance *instance = &plan->instance[k];
        mst_program *program = &plan->program[instance->device];
        MST_TRY(mst_grow(&program->instance, sizeof *program->instance, program->num_instances + 1,
                         &program->instance_capacity));
        program->instance[program->num_instances++] = (int32_t)k;
        if (instance->point) instance->point = ++program->num_points;
    }
    return MST_OK;
}

mst_status mst_plan_partition(mst_plan *plan) {
    cut c = {.plan = plan};
    mst_status status = make_instances(plan);
    if (!status && plan->host->devices->count > 1) status = add_waits(&c);
    if (!status) status = emit(plan);
    mst_map_free(&c.waited);
    mst_map_free(&c.settled);
    free(c.met);
    free(c.needed);
    return status;
}
