/* Ops that only plans have. The executor itself carries out those by which a value enters or leaves a device (feed,
 * fetch, send, receive), and the exchanges with other tasks. */
#include "plan/ops.h"

#include "muster/hlo.h"
#include "op/op.h"
#include "plan/compiled.h"
#include "plan/plan.h"

static mst_status like_source(mst_infer *c) {
    for (int i = 0; i < c->num_dst; i++) c->dst[i] = c->src[i];
    return MST_OK;
}

/* dst: the value of a feed; its spec is that of the feed and needs no inference */
const mst_op mst_op_feed = {.name = "feed", .num_dst = 1, .flags = MST_OP_STATEFUL};

/* src: a value for the caller; or none, if the node is fetched only to make it run */
const mst_op mst_op_fetch = {
    .name = "fetch", .num_src = MST_VARIADIC, .flags = MST_OP_STATEFUL | MST_OP_INFALLIBLE, .infer = like_source};

/* src: a value for another domain or task; dst of the receive: that value there */
const mst_op mst_op_send = {.name = "send", .num_src = 1, .num_dst = 1, .flags = MST_OP_VIEW, .infer = like_source};
const mst_op mst_op_receive = {
    .name = "receive", .num_src = 1, .num_dst = 1, .flags = MST_OP_STATEFUL, .infer = like_source};

/* a point where its device has waited for all nodes that it comes after (partition.c); it computes nothing */
const mst_op mst_op_meet = {.name = "meet", .flags = MST_OP_STATEFUL | MST_OP_INFALLIBLE};

/* src: this task's leaves of each value; dst of the wait: the sums over all tasks */
const mst_op mst_op_exchange_start = {.name = "exchange_start", .num_src = MST_VARIADIC, .flags = MST_OP_STATEFUL};
const mst_op mst_op_exchange_wait = {.name = "exchange_wait", .num_dst = MST_VARIADIC, .flags = MST_OP_STATEFUL};

static const mst_field piece_fields[] = {
    MST_FIELD_I64(mst_piece_options, offset, 0, 0, 0, "first element"),
    MST_FIELD_END,
};
static void piece_lower(mst_lower *l) {
    const mst_piece_options *o = l->options;
    const mst_hlo vector = mst_hlo_reshape(l, l->src[0], MST_SHAPE(mst_shape_count(l->src_spec[0].shape)));
    const mst_shape shape = l->dst_spec[0].shape;
    l->dst[0] =
        mst_hlo_reshape(l, mst_hlo_slice_axis(l, vector, 0, o->offset, o->offset + mst_shape_count(shape)), shape);
}

const mst_op mst_op_piece = {.name = "piece",
                             .num_src = 1,
                             .num_dst = 1,
                             .flags = MST_OP_VIEW,
                             .fields = piece_fields,
                             .options_size = sizeof(mst_piece_options),
                             .lower = piece_lower};

static bool compiled_writes(const void *options, int num_src, int i) {
    (void)num_src;
    return mst_compiled_donation_of(options, i) != NULL;
}

/* src, dst: arrays of the program in its options (plan/compiled.h); outputs have the specs of the values that they
 * replace */
const mst_op mst_op_compiled = {.name = "compiled",
                                .num_src = MST_VARIADIC,
                                .num_dst = MST_VARIADIC,
                                .flags = MST_OP_STATEFUL,
                                .options_size = sizeof(mst_compiled_options),
                                .writes = compiled_writes};
