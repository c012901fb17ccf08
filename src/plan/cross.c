/* cross: a value that is used in another memory domain than its own gets a send on the device that makes it and a
 * receive on one that uses it, one pair for each domain.
 *
 * The receive copies: it waits until the value is made, and takes it right before its first use. Where only some of
 * the rows of a value count (counted_by), only these are copied. Constants are not sent: each domain has a copy of
 * them, which is made once, with the plan. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "plan/pair_map.h"
#include "plan/plan.h"

typedef struct crossing {
    mst_plan *plan;
    mst_pair_map there; /* (value, first device of a domain) -> the value there */
    mst_pair_map sent;  /* (value, 0) -> the value of its send */
    int32_t *domain;    /* by device: the first device of its domain */
    int32_t turn;       /* of the devices of a group */
} crossing;

static mst_status copy_constant(crossing *x, int32_t value, int32_t device, int32_t *out) {
    mst_plan *plan = x->plan;
    mst_plan_node copy = plan->node[plan->value[value].node];
    const mst_spec spec = plan->value[value].spec;
    int32_t added;
    copy.num_src = copy.num_control = 0;
    copy.num_dst = 1;
    copy.device = device;
    MST_TRY(mst_plan_add(plan, &copy, NULL, &spec, &added));
    *out = plan->node[added].dst;
    plan->value[*out].space = MST_IN_CONSTANT;
    plan->value[*out].constant = mst_tensor_retain(plan->value[value].constant);
    return MST_OK;
}

/* COUNT: value with the number of rows, -1. */
static mst_status add_end(crossing *x, const mst_op *op, const char *suffix, int32_t value, int32_t count,
                          int32_t device, int32_t *out) {
    mst_plan *plan = x->plan;
    const mst_plan_node *maker = &plan->node[plan->value[value].node];
    const int32_t src[2] = {value, count};
    const mst_plan_node node = {.op = op,
                                .name = mst_arena_print(&plan->memory, "%s/%s", maker->name, suffix),
                                .asked = "",
                                .num_src = 1 + (count >= 0),
                                .num_dst = 1,
                                .device = device,
                                .group = -1,
                                .fallible = true};
    if (!node.name) return MST_NO_MEMORY("for a plan");
    const mst_spec spec = plan->value[value].spec;
    int32_t added;
    MST_TRY(mst_plan_add(plan, &node, src, &spec, &added));
    *out = plan->node[added].dst;
    return MST_OK;
}

/* Sets OUT to the source of a receive of VALUE: its send, or the value itself where it is fed. */
static mst_status find_send(crossing *x, int32_t value, int32_t *out) {
    mst_plan *plan = x->plan;
    *out = value;
    const mst_space space = plan->value[plan->value[value].root].space;
    if (mst_plan_value_domain(plan, value) == &mst_domain_host && (space == MST_IN_FEED || space == MST_IN_SUM))
        return MST_OK;
    int32_t *sent = mst_pair_map_at(&x->sent, value, 0, -1);
    if (!sent) return MST_NO_MEMORY("for a plan");
    if (*sent < 0)
        MST_TRY(add_end(x, &mst_op_send, "send", value, -1, plan->node[plan->value[value].node].device, sent));
    *out = *sent;
    return MST_OK;
}

static mst_status add_receive(crossing *x, int32_t value, int32_t device, int32_t *out) {
    mst_plan *plan = x->plan;
    const int32_t counted_by = plan->value[value].counted_by;
    int32_t from, count = -1;
    MST_TRY(find_send(x, value, &from));
    if (counted_by >= 0) MST_TRY(find_send(x, counted_by, &count));
    MST_TRY(add_end(x, &mst_op_receive, "receive", from, count, device, out));
    plan->crossings++;
    plan->crossing_bytes +=
        mst_shape_count(plan->value[value].spec.shape) * (int64_t)mst_dtype_size(plan->value[value].spec.dtype);
    return MST_OK;
}

/* Sets OUT to VALUE in the domain of DEVICE, a different one than its own: a receive, or a copy of a constant. */
static mst_status carry(crossing *x, int32_t value, int32_t device, int32_t *out) {
    int32_t *there = mst_pair_map_at(&x->there, value, x->domain[device], -1);
    if (!there) return MST_NO_MEMORY("for a plan");
    if ((*out = *there) >= 0) return MST_OK;
    if (x->plan->value[value].constant)
        MST_TRY(copy_constant(x, value, device, out));
    else
        MST_TRY(add_receive(x, value, device, out));
    *there = *out;
    return MST_OK;
}

/* The device that receives for a node; the devices of a group take turns. */
static int32_t find_receiver(crossing *x, const mst_plan_node *node) {
    if (node->group < 0) return node->device;
    const mst_plan_group *group = &x->plan->group[node->group];
    return group->device[x->turn++ % group->count];
}

static mst_status visit(crossing *x, int32_t n) {
    mst_plan *plan = x->plan;
    for (int i = 0; i < plan->node[n].num_src; i++) {
        const int32_t value = plan->node[n].src[i], device = plan->node[n].device;
        if (mst_plan_shape_only(&plan->node[n], i)) continue;
        if (mst_plan_value_domain(plan, value) == mst_plan_domain(plan, device)) continue;
        const mst_op *op = plan->node[n].op;
        if (op == &mst_op_fetch || op == &mst_op_exchange_start || (op->flags & MST_OP_NO_VALUE)) continue;
        if (mst_plan_writes(&plan->node[n], i))
            return MST_FAIL(MST_INTERNAL, "'%s' writes '%s' in another memory domain", plan->node[n].name,
                            plan->node[plan->value[value].node].name);
        int32_t here;
        MST_TRY(carry(x, value, find_receiver(x, &plan->node[n]), &here));
        plan->node[n].src[i] = here;
    }
    return MST_OK;
}

/* Counts what goes to and from the host by feeds that a function fills, and by fetches. */
static void count_ports(mst_plan *plan) {
    for (int64_t i = 0; i < plan->num_nodes; i++) {
        const mst_plan_node *node = &plan->node[i];
        const bool fetch = node->op == &mst_op_fetch && node->num_src, feed = node->op == &mst_op_feed;
        if (node->dead || (!fetch && !feed)) continue;
        const mst_plan_value *value = &plan->value[fetch ? node->src[0] : node->dst];
        if (feed && value->space == MST_IN_FEED) continue;
        if (fetch && (value->constant || mst_plan_value_domain(plan, node->src[0])->type->host)) continue;
        if (mst_plan_domain(plan, node->device)->type->host) continue;
        plan->crossings++;
        plan->crossing_bytes += mst_shape_count(value->spec.shape) * (int64_t)mst_dtype_size(value->spec.dtype);
    }
}

mst_status mst_plan_cross(mst_plan *plan) {
    const mst_devices *devices = plan->host->devices;
    crossing x = {.plan = plan};
    bool one = true;
    for (int i = 0; i < devices->count; i++) one &= devices->device[i].domain == &mst_domain_host;
    if (one) return MST_OK;
    mst_status status = MST_OK;
    x.domain = malloc((size_t)devices->count * sizeof *x.domain);
    if (!x.domain) status = MST_NO_MEMORY("for a plan");
    for (int i = 0; i < devices->count && !status; i++) {
        int k = i > 0 && devices->device[i - 1].domain == devices->device[i].domain ? i - 1 : 0;
        while (devices->device[k].domain != devices->device[i].domain) k++;
        x.domain[i] = k == i ? i : x.domain[k];
    }
    if (!status) status = mst_plan_sort(plan); /* a view is looked at before what uses it */
    for (int64_t i = 0; i < plan->num_order && !status; i++) status = visit(&x, plan->order[i]);
    mst_pair_map_free(&x.there);
    mst_pair_map_free(&x.sent);
    free(x.domain);
    if (!status) status = mst_plan_sweep(plan);
    if (!status) count_ports(plan);
    return status;
}
