/* partition: cuts the order into one program for each device. If a device uses a value that another device of its
 * domain makes, it waits for that device. Each device counts how far it has come: there is a point after each node that
 * other devices wait for. A wait for a later point covers all earlier points. Behind the gate no device waits for nodes
 * before the gate.
 *
 * If many devices run a node together, and each needs values from all of them, one device waits for all others by a
 * node `meet`, and the others wait for that device:
 *
 *    3 devices, each for each other: 6 waits        12 devices with a meet: 2 * 11 waits instead of 12 * 11
 *
 * A device waits for a value of another task where it receives it. So no device waits for a device of another task.
 *
 * All waits go from a later place of the common order to an earlier one, so devices cannot wait for each other in a
 * circle. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "plan/pair_map.h"
#include "plan/plan.h"

/* The largest group whose devices wait for each other without a meet. A meet takes two waits one after the other. */
enum { MOST_WITHOUT_MEET = 4 };

typedef struct cut {
    mst_plan *plan;
    int32_t *meet_of;     /* by node that a group runs: its meet; -1: none */
    mst_pair_map waited;  /* (device, other) -> 1 + place in the order up to which DEVICE has waited for OTHER */
    mst_pair_map settled; /* (silent node, device) -> 1: the device already waits for all nodes that the silent node
                             comes after */
    int32_t *met;         /* by node: the last user for which collect() visited it */
    int32_t *needed;      /* nodes after which the visited node runs */
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

/* ---- the nodes after which a node runs ---- */

/* Collects the nodes after which node USER runs: FROM, or the nodes that FROM comes after if nothing runs for FROM. */
static mst_status collect(cut *c, int32_t user, int32_t from) {
    const mst_plan *plan = c->plan;
    const mst_plan_node *node = &plan->node[from];
    if (c->met[from] == user || (plan->node[user].region == MST_COMMIT && node->region == MST_BODY)) return MST_OK;
    if (mst_plan_is_in_another_task(plan, node)) return MST_OK;
    c->met[from] = user;
    if (!mst_plan_is_silent(plan, node)) {
        MST_TRY(mst_grow(&c->needed, sizeof *c->needed, c->num_needed + 1, &c->capacity));
        c->needed[c->num_needed++] = from;
        return MST_OK;
    }
    if (plan->node[user].group < 0) {
        int32_t *settled = mst_pair_map_at(&c->settled, from, plan->node[user].device, 0);
        if (!settled) return MST_NO_MEMORY("for a plan");
        if (*settled) return MST_OK;
        *settled = 1;
    }
    for (int i = 0; i < node->num_src; i++)
        if (!mst_plan_shape_only(node, i)) MST_TRY(collect(c, user, plan->value[node->src[i]].node));
    for (int i = 0; i < node->num_control; i++) MST_TRY(collect(c, user, node->control[i]));
    return MST_OK;
}

/* Compares nodes so that later places in the order come first. Then a wait for the first node of a device covers the
 * device's other nodes. */
static int later_first(const void *a, const void *b, void *context) {
    const mst_plan_node *node = context;
    const int32_t x = node[*(const int32_t *)a].position, y = node[*(const int32_t *)b].position;
    return (x < y) - (x > y);
}

static mst_status collect_all(cut *c, int32_t n) {
    const mst_plan *plan = c->plan;
    const mst_plan_node *node = &plan->node[n];
    c->num_needed = 0;
    for (int i = 0; i < node->num_src; i++)
        if (!mst_plan_shape_only(node, i)) MST_TRY(collect(c, n, plan->value[node->src[i]].node));
    for (int i = 0; i < node->num_control; i++) MST_TRY(collect(c, n, node->control[i]));
    if (c->num_needed > 1) qsort_r(c->needed, (size_t)c->num_needed, sizeof *c->needed, later_first, plan->node);
    return MST_OK;
}

/* ---- meets ---- */

/* Keeps only the last needed node of each device. The needed nodes are sorted. */
static mst_status keep_last(cut *c) {
    const mst_plan *plan = c->plan;
    bool *seen = calloc((size_t)plan->host->devices->count, sizeof *seen);
    int64_t kept = 0;
    if (!seen) return MST_NO_MEMORY("for a plan");
    for (int64_t k = 0; k < c->num_needed; k++) {
        const mst_plan_node *node = &plan->node[c->needed[k]];
        bool last = false;
        for (int32_t i = 0; i < parts_of(plan, node); i++) {
            const int32_t device = node->group < 0 ? node->device : plan->group[node->group].device[i];
            last |= !seen[device];
            seen[device] = true;
        }
        if (last) c->needed[kept++] = c->needed[k];
    }
    c->num_needed = kept;
    free(seen);
    return MST_OK;
}

/* Adds a meet for node N, if that saves waits. */
static mst_status add_meet(cut *c, int32_t n) {
    mst_plan *plan = c->plan;
    if (parts_of(plan, &plan->node[n]) <= MOST_WITHOUT_MEET) return MST_OK;
    MST_TRY(collect_all(c, n));
    MST_TRY(keep_last(c));
    if (c->num_needed <= MOST_WITHOUT_MEET) return MST_OK;
    const mst_plan_node meet = {.op = &mst_op_meet,
                                .name = mst_arena_print(&plan->memory, "%s/meet", plan->node[n].name),
                                .asked = "",
                                .num_control = (int32_t)c->num_needed,
                                .control = c->needed,
                                .device = plan->node[n].device,
                                .group = -1,
                                .region = plan->node[n].region};
    if (!meet.name) return MST_NO_MEMORY("for a plan");
    return mst_plan_add(plan, &meet, NULL, NULL, &c->meet_of[n]);
}

/* Puts the meets into the order, each before its node. */
static mst_status add_meets(cut *c) {
    mst_plan *plan = c->plan;
    const int64_t num_nodes = plan->num_nodes, count = plan->num_order;
    for (int64_t k = 0; k < count; k++) MST_TRY(add_meet(c, plan->order[k]));
    if (plan->num_nodes == num_nodes) return MST_OK;
    int32_t *order = malloc((size_t)(count + plan->num_nodes - num_nodes) * sizeof *order);
    if (!order) return MST_NO_MEMORY("for a plan");
    plan->num_order = 0;
    for (int64_t k = 0; k < count; k++) {
        const int32_t n = plan->order[k];
        if (c->meet_of[n] >= 0) order[plan->num_order++] = c->meet_of[n];
        order[plan->num_order++] = n;
    }
    for (int64_t k = 0; k < plan->num_order; k++) plan->node[order[k]].position = (int32_t)k;
    free(plan->order);
    plan->order = order;
    return MST_OK;
}

/* ---- waits ---- */

static mst_status add_wait(cut *c, int32_t instance, int32_t from) {
    mst_plan *plan = c->plan;
    MST_TRY(mst_grow(&plan->wait, sizeof *plan->wait, plan->num_waits + 1, &plan->wait_capacity));
    plan->wait[plan->num_waits] = (mst_plan_wait){.from = from, .next = plan->instance[instance].wait};
    plan->instance[instance].wait = (int32_t)plan->num_waits++;
    plan->instance[from].point = 1; /* the real number is set later */
    return MST_OK;
}

static mst_status come_after_instance(cut *c, int32_t instance, int32_t from) {
    const mst_plan *plan = c->plan;
    const int32_t device = plan->instance[instance].device, other = plan->instance[from].device;
    const int32_t place = plan->node[plan->instance[from].node].position + 1;
    if (device == other) return MST_OK;
    int32_t *known = mst_pair_map_at(&c->waited, device, other, 0);
    if (!known) return MST_NO_MEMORY("for a plan");
    if (*known >= place) return MST_OK;
    *known = place;
    return add_wait(c, instance, from);
}

static mst_status visit(cut *c, int32_t n) {
    const mst_plan *plan = c->plan;
    const mst_plan_node *node = &plan->node[n];
    const int32_t meet = c->meet_of[n];
    if (mst_plan_is_silent(plan, node) || (node->op == &mst_op_fetch && node->num_src == 0)) return MST_OK;
    for (int32_t part = 0; part < parts_of(plan, node) && meet >= 0; part++)
        MST_TRY(come_after_instance(c, plan->instance_of[n] + part, plan->instance_of[meet]));
    if (meet >= 0) return MST_OK;
    MST_TRY(collect_all(c, n));
    for (int32_t part = 0; part < parts_of(plan, node); part++)
        for (int64_t k = 0; k < c->num_needed; k++)
            for (int32_t i = 0; i < parts_of(plan, &plan->node[c->needed[k]]); i++)
                MST_TRY(come_after_instance(c, plan->instance_of[n] + part, plan->instance_of[c->needed[k]] + i));
    return MST_OK;
}

static mst_status add_waits(cut *c) {
    const mst_plan *plan = c->plan;
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

static mst_status partition_begin(cut *c) {
    const size_t nodes = (size_t)(c->plan->num_nodes + c->plan->num_order) + 1; /* meets included */
    c->met = malloc(nodes * sizeof *c->met);
    c->meet_of = malloc(nodes * sizeof *c->meet_of);
    if (!c->met || !c->meet_of) return MST_NO_MEMORY("for a plan");
    memset(c->met, -1, nodes * sizeof *c->met);
    memset(c->meet_of, -1, nodes * sizeof *c->meet_of);
    MST_TRY(add_meets(c));
    memset(c->met, -1, nodes * sizeof *c->met);
    return MST_OK;
}

mst_status mst_plan_partition(mst_plan *plan) {
    cut c = {.plan = plan};
    const bool several = plan->host->devices->count > 1;
    mst_status status = several ? partition_begin(&c) : MST_OK;
    if (!status) status = make_instances(plan);
    if (!status && several) status = add_waits(&c);
    if (!status) status = emit(plan);
    mst_pair_map_free(&c.waited);
    mst_pair_map_free(&c.settled);
    free(c.met);
    free(c.meet_of);
    free(c.needed);
    return status;
}
