/* Ops that only plans have. They run by kernels of the host. */
#include "plan/plan.h"

static mst_status like_source(mst_infer *c) {
    for (int i = 0; i < c->num_dst; i++) c->dst[i] = c->src[i];
    return MST_OK;
}

/* dst: the value of a feed; its spec is that of the feed, known from the start */
const mst_op mst_op_feed = {.name = "feed", .num_dst = 1, .flags = MST_OP_STATEFUL};

/* src: a value for the caller, or none where only running counts */
const mst_op mst_op_fetch = {.name = "fetch", .num_src = MST_VARIADIC, .flags = MST_OP_STATEFUL, .infer = like_source};

/* src: a value for another device, or none where only the news counts; dst of the receive: that value there */
const mst_op mst_op_send = {.name = "send", .num_src = MST_VARIADIC, .flags = MST_OP_STATEFUL, .infer = like_source};
const mst_op mst_op_receive = {.name = "receive",
                               .num_src = MST_VARIADIC,
                               .num_dst = MST_VARIADIC,
                               .flags = MST_OP_STATEFUL | MST_OP_VIEW,
                               .infer = like_source};

mst_status mst_plan_add_port(mst_plan *plan, int32_t node, int32_t index) {
    mst_plan_port *port = mst_arena_alloc(&plan->memory, sizeof *port);
    if (!port) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a plan");
    port->index = index;
    plan->node[node].state = port;
    MST_TRY(mst_grow(&plan->port, sizeof port, plan->num_ports + 1, &plan->port_capacity));
    plan->port[plan->num_ports++] = port;
    return MST_OK;
}
