/* cross: carries values between memory domains. A value that is used in other domains than its own gets a send,
 * on the device that makes it. Each of these other domains gets a receive, on a device that uses the value.
 *
 * The receive copies: it waits until the value is made, and copies it right before its first use. If only the first
 * rows of a value are in use (counted_by), only these are copied; to and from devices that compile it is always the
 * whole array. Constants are not sent: each domain has a copy of them, which is made once, with the plan.
 *
 * Values that belong to no shard are not sent between devices that compile. Each of these devices computes them itself.
 * So all of them have the same programs, whatever the number of devices.
 *
 * Between tasks the send and the receive are the ends of a message stream, which has a number. A node may have to come
 * after a node of another task without taking its value. Then the message has no bytes: it only says that the other
 * node is done. Behind the gate there are no messages: the body is done on all tasks by then, and no task reads there
 * what another task writes. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "plan/pair_map.h"
#include "plan/plan.h"

typedef struct crossing {
    mst_plan *plan;
    mst_pair_map there; /* (value, first device of a domain) -> the value as that domain has it */
    mst_pair_map sent;  /* (value, 0) -> the value of its send */
    mst_pair_map heard; /* (node, first device of a domain) -> the node there that receives the message without bytes */
    int32_t *domain;    /* by device: the first device of its domain */
    int32_t turn;       /* number of receives for groups so far: the devices of a group take turns */
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

/* Adds OP, a send or a receive of VALUE, on DEVICE. COUNT is the value whose first element is the number of rows to
 * copy; -1: all rows are copied. */
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

/* Sets OUT to the source of a receive of VALUE: its send, or the value itself if it is fed. */
static mst_status find_send(crossing *x, int32_t value, int32_t *out) {
    mst_plan *plan = x->plan;
    *out = value;
    const mst_space space = plan->value[plan->value[value].root].space;
    mst_domain *host = mst_device_host(plan->host->devices, plan->node[plan->value[value].node].device);
    if (mst_plan_value_domain(plan, value) == host && (space == MST_IN_FEED || space == MST_IN_SUM)) return MST_OK;
    int32_t *sent = mst_pair_map_at(&x->sent, value, 0, -1);
    if (!sent) return MST_NO_MEMORY("for a plan");
    if (*sent < 0)
        MST_TRY(add_end(x, &mst_op_send, "send", value, -1, plan->node[plan->value[value].node].device, sent));
    *out = *sent;
    return MST_OK;
}

/* ---- between tasks ---- */

static int32_t task_of(const crossing *x, int32_t device) {
    return x->plan->host->devices->device[device].task;
}

/* Makes SEND and RECEIVE the ends of a message. */
static void connect(crossing *x, int32_t send, int32_t receive) {
    mst_plan_node *from = &x->plan->node[send], *to = &x->plan->node[receive];
    from->stream = to->stream = ++x->plan->num_streams;
    from->peer = task_of(x, to->device);
    to->peer = task_of(x, from->device);
}

/* The value whose first element is the number of rows of VALUE to copy to DEVICE; -1: all rows are copied. */
static int32_t counted_rows(const crossing *x, int32_t value, int32_t device) {
    const mst_plan *plan = x->plan;
    const mst_device *devices = plan->host->devices->device;
    if (devices[device].type->compiles || mst_plan_compiles(plan, &plan->node[plan->value[value].node])) return -1;
    return plan->value[value].counted_by;
}

static mst_status add_message(crossing *x, int32_t value, int32_t device, int32_t *out) {
    mst_plan *plan = x->plan;
    const int32_t maker = plan->node[plan->value[value].node].device, count = counted_rows(x, value, device);
    int32_t sent;
    MST_TRY(add_end(x, &mst_op_send, "send", value, count, maker, &sent));
    MST_TRY(add_end(x, &mst_op_receive, "receive", sent, -1, device, out));
    connect(x, plan->value[sent].node, plan->value[*out].node);
    return MST_OK;
}

/* Adds OP, an end of a message without bytes. It comes after node AFTER. */
static mst_status add_signal_end(crossing *x, const mst_op *op, const char *suffix, int32_t after, int32_t device,
                                 int32_t *out) {
    mst_plan *plan = x->plan;
    const mst_plan_node node = {.op = op,
                                .name = mst_arena_print(&plan->memory, "%s/%s", plan->node[after].name, suffix),
                                .asked = "",
                                .num_control = 1,
                                .control = &after,
                                .device = device,
                                .group = -1,
                                .fallible = true};
    if (!node.name) return MST_NO_MEMORY("for a plan");
    return mst_plan_add(plan, &node, NULL, NULL, out);
}

/* Makes node N come after node AFTER of another task. */
static mst_status follow(crossing *x, int32_t n, int32_t after) {
    mst_plan *plan = x->plan;
    const int32_t device = plan->node[n].device;
    if (plan->node[n].region == MST_COMMIT || plan->node[after].region == MST_COMMIT) return MST_OK;
    int32_t *heard = mst_pair_map_at(&x->heard, after, x->domain[device], -1), sent, received;
    if (!heard) return MST_NO_MEMORY("for a plan");
    if (*heard < 0) {
        MST_TRY(add_signal_end(x, &mst_op_send, "tell", after, plan->node[after].device, &sent));
        MST_TRY(add_signal_end(x, &mst_op_receive, "hear", sent, device, &received));
        connect(x, sent, received);
        *heard = received;
    }
    return mst_plan_add_control(plan, n, *heard);
}

/* Whether node AFTER is in another task than node N and N has to wait for it. N need not wait if AFTER has no sources
 * and nothing runs for it (mst_plan_is_silent). */
static bool is_apart(const crossing *x, int32_t n, int32_t after) {
    const mst_plan_node *node = &x->plan->node[after];
    if (task_of(x, x->plan->node[n].device) == task_of(x, node->device)) return false;
    return !mst_plan_is_silent(x->plan, node) || node->num_src || node->num_control;
}

/* Makes node N wait for nodes of other tasks from which it takes no value: control sources, and the sources of a group
 * of nodes. */
static mst_status follow_all(crossing *x, int32_t n) {
    const mst_plan *plan = x->plan;
    const int num_control = plan->node[n].num_control, num_src = plan->node[n].num_src;
    const mst_op *op = plan->node[n].op;
    for (int i = 0; i < num_control; i++)
        if (is_apart(x, n, plan->node[n].control[i])) MST_TRY(follow(x, n, plan->node[n].control[i]));
    for (int i = 0; i < num_src && (op->flags & MST_OP_NO_VALUE); i++) {
        const int32_t maker = plan->value[plan->node[n].src[i]].node;
        if (is_apart(x, n, maker)) MST_TRY(follow(x, n, maker));
    }
    return MST_OK;
}

/* Moves a fetch to the device of its value, which passes may have changed. */
static void move_fetch(const mst_plan *plan, mst_plan_node *node) {
    if (node->op != &mst_op_fetch || node->num_src == 0) return;
    node->device = plan->node[plan->value[node->src[0]].node].device;
}

/* ---- values ---- */

static mst_status add_receive(crossing *x, int32_t value, int32_t device, int32_t *out) {
    mst_plan *plan = x->plan;
    const int32_t counted_by = counted_rows(x, value, device);
    const int32_t maker = plan->node[plan->value[value].node].device;
    int32_t from, count = -1;
    if (task_of(x, maker) != task_of(x, device)) {
        MST_TRY(add_message(x, value, device, out));
    } else {
        MST_TRY(find_send(x, value, &from));
        if (counted_by >= 0) MST_TRY(find_send(x, counted_by, &count));
        MST_TRY(add_end(x, &mst_op_receive, "receive", from, count, device, out));
    }
    plan->crossings++;
    plan->crossing_bytes +=
        mst_shape_count(plan->value[value].spec.shape) * (int64_t)mst_dtype_size(plan->value[value].spec.dtype);
    return MST_OK;
}

/* Whether DEVICE computes NODE for itself instead of receiving its outputs. */
static bool can_repeat(const crossing *x, const mst_plan_node *node, int32_t device) {
    const unsigned storage = MST_OP_VARIABLE | MST_OP_PLACEHOLDER | MST_OP_CONSTANT | MST_OP_NO_VALUE;
    const mst_op *op = node->op;
    if (!x->plan->has_shards || !mst_plan_compiles(x->plan, node) || node->part != MST_PART_REST) return false;
    if (!x->plan->host->devices->device[device].type->compiles || task_of(x, node->device) != task_of(x, device))
        return false;
    if (op == &mst_op_feed || op == &mst_op_send || op == &mst_op_receive || op == &mst_op_exchange_wait) return false;
    return node->region == MST_BODY && !node->writer && !node->num_control && !(op->flags & storage);
}

static mst_status visit(crossing *x, int32_t n);

/* If VALUE is the output of a receive within the task: the value that is sent. Else VALUE itself. */
static int32_t before_receive(const mst_plan *plan, int32_t value) {
    const mst_plan_node *node = &plan->node[plan->value[value].node];
    if (node->op != &mst_op_receive || node->stream) return value;
    const mst_plan_node *from = &plan->node[plan->value[node->src[0]].node];
    return from->op == &mst_op_send ? from->src[0] : node->src[0];
}

/* Adds a copy of the node of VALUE on DEVICE. *OUT is the value there. If the node receives a source, the copy starts
 * from the value that was sent, and gets it on its own device. */
static mst_status repeat(crossing *x, int32_t value, int32_t device, int32_t *out) {
    mst_plan *plan = x->plan;
    mst_plan_node copy = plan->node[plan->value[value].node];
    mst_spec *dst = mst_arena_alloc(&plan->memory, (size_t)(copy.num_dst + 1) * sizeof *dst);
    int32_t added;
    if (!dst) return MST_NO_MEMORY("for a plan");
    for (int i = 0; i < copy.num_dst; i++) dst[i] = plan->value[copy.dst + i].spec;
    const int32_t first = copy.dst;
    if (!copy.copy_of) copy.copy_of = 1 + plan->value[value].node;
    copy.device = device;
    MST_TRY(mst_plan_add(plan, &copy, copy.src, dst, &added));
    for (int i = 0; i < copy.num_src; i++) plan->node[added].src[i] = before_receive(plan, copy.src[i]);
    for (int i = 0; i < copy.num_dst; i++) {
        int32_t *there = mst_pair_map_at(&x->there, first + i, x->domain[device], -1);
        if (!there) return MST_NO_MEMORY("for a plan");
        *there = plan->node[added].dst + i;
    }
    *out = plan->node[added].dst + value - first;
    return visit(x, added);
}

/* Sets OUT to the value in the domain of DEVICE that equals VALUE, which is in another domain. The value is received,
 * is a copy of a constant, or is computed there. */
static mst_status carry(crossing *x, int32_t value, int32_t device, int32_t *out) {
    int32_t *there = mst_pair_map_at(&x->there, value, x->domain[device], -1);
    if (!there) return MST_NO_MEMORY("for a plan");
    if ((*out = *there) >= 0) return MST_OK;
    if (!x->plan->value[value].constant && can_repeat(x, &x->plan->node[x->plan->value[value].node], device))
        return repeat(x, value, device, out);
    if (x->plan->value[value].constant)
        MST_TRY(copy_constant(x, value, device, out));
    else
        MST_TRY(add_receive(x, value, device, out));
    *there = *out;
    return MST_OK;
}

/* The device that receives a value for a node. The devices of a group take turns. */
static int32_t find_receiver(crossing *x, const mst_plan_node *node) {
    if (node->group < 0) return node->device;
    const mst_plan_group *group = &x->plan->group[node->group];
    return group->device[x->turn++ % group->count];
}

static mst_status visit(crossing *x, int32_t n) {
    mst_plan *plan = x->plan;
    if (mst_plan_has_tasks(plan)) {
        move_fetch(plan, &plan->node[n]);
        MST_TRY(follow_all(x, n));
    }
    for (int i = 0; i < plan->node[n].num_src; i++) {
        const int32_t value = plan->node[n].src[i], device = plan->node[n].device;
        if (mst_plan_shape_only(&plan->node[n], i)) continue;
        if (mst_plan_value_domain(plan, value) == mst_plan_domain(plan, device)) continue;
        const mst_op *op = plan->node[n].op;
        if (op == &mst_op_fetch || op == &mst_op_exchange_start || (op->flags & MST_OP_NO_VALUE)) continue;
        if (mst_plan_writes(&plan->node[n], i) && !mst_plan_compiles(plan, &plan->node[n]))
            return MST_FAIL(MST_INTERNAL, "'%s' writes '%s' in another memory domain", plan->node[n].name,
                            plan->node[plan->value[value].node].name);
        int32_t here;
        MST_TRY(carry(x, value, find_receiver(x, &plan->node[n]), &here));
        plan->node[n].src[i] = here;
    }
    return MST_OK;
}

/* Counts the values that cross to and from the host: feeds that a function fills, and fetches. */
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
        /* neighbouring devices are mostly of one domain */
        int k = i > 0 && devices->device[i - 1].domain == devices->device[i].domain ? i - 1 : 0;
        while (devices->device[k].domain != devices->device[i].domain) k++;
        x.domain[i] = k == i ? i : x.domain[k];
    }
    if (!status) status = mst_plan_sort(plan); /* a view is visited before its users */
    for (int64_t i = 0; i < plan->num_order && !status; i++) status = visit(&x, plan->order[i]);
    mst_pair_map_free(&x.there);
    mst_pair_map_free(&x.sent);
    mst_pair_map_free(&x.heard);
    free(x.domain);
    if (!status) status = mst_plan_sweep(plan);
    if (!status) count_ports(plan);
    return status;
}
