/** sum_replicas: dst = the sum of src over all shards of a step
 *
 *  src  f32, f64, i32 or i64, of one shape in all shards
 *  dst  like src
 *
 *  Shards are built one after the other, so a node cannot have values of later shards as its sources. Instead each
 *  shard has a separate node, whose source is the shard's summand. The plan replaces the nodes with the same number by
 *  one sum, in the tree over the shards of all tasks. A run needs the nodes of all shards.
 *
 *  Layers build it with mst_sum_replicas.
 */
#include "op/elementwise/sum_replicas.h"

#include "graph/graph.h"
#include "op/list.h"
#include "op/op.h"
#include "op/shape/strided.h"

static const mst_field sum_replicas_fields[] = {
    MST_FIELD_I32(mst_sum_replicas_options, num_shards, 1, 1, 1 << 20, "shards of all tasks"),
    MST_FIELD_I32(mst_sum_replicas_options, first_shard, 0, 0, 1 << 20, "first shard of this task"),
    MST_FIELD_I32(mst_sum_replicas_options, num_here, 1, 1, 1 << 20, "shards of this task"),
    MST_FIELD_I32(mst_sum_replicas_options, shard, 0, 0, 1 << 20, "of the source"),
    MST_FIELD_I64(mst_sum_replicas_options, number, 0, 0, 0, "of the sum, the same in all shards"),
    MST_FIELD_END,
};

static mst_status sum_replicas_infer(mst_infer *c) {
    const mst_sum_replicas_options *o = c->options;
    if (o->shard < o->first_shard || o->shard >= o->first_shard + o->num_here ||
        o->first_shard + o->num_here > o->num_shards)
        return mst_infer_fail(c, "shard %d of %d to %d of %d", (int)o->shard, (int)o->first_shard,
                              (int)(o->first_shard + o->num_here - 1), (int)o->num_shards);
    MST_TRY(mst_infer_want_listed(c, 0));
    c->dst[0] = c->src[0];
    return MST_OK;
}

/* The losses of all shards depend on the source, so its gradient is the sum of their gradients. */
static mst_value sum_replicas_grad(mst_grad *c, int i) {
    const mst_sum_replicas_options *o = c->options;
    (void)i;
    if (o->num_shards > 1 && !c->graph->current.replica)
        return mst_value_fail(c->graph, MST_INVALID,
                              "sum_replicas: shards are differentiated by the strategy that has built them");
    return mst_sum_replicas(c->ddst[0]);
}

/* Copies the source, as the kernel does: for one shard. The plan replaces the nodes of several shards by a sum, or the
 * run fails. */
static void sum_replicas_lower(mst_lower *l) {
    l->dst[0] = l->src[0];
}

static const mst_example sum_replicas_examples[] = {
    {.name = "one shard",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){1, 2}}},
     .expect = {(const double[]){1, 2}}},
    {.name = "random", .num_src = 1, .src = {{.ndim = 2, .dim = {2, 3}}}},
    {.name = "a shard that is not here",
     .num_src = 1,
     .src = {{.ndim = 0}},
     .options = &(const mst_sum_replicas_options){.num_shards = 4, .num_here = 2, .shard = 2},
     .fails = MST_INVALID},
    {.name = "shards past the last",
     .num_src = 1,
     .src = {{.ndim = 0}},
     .options = &(const mst_sum_replicas_options){.num_shards = 4, .first_shard = 3, .num_here = 2, .shard = 3},
     .fails = MST_INVALID},
    {.name = "without the other shards",
     .num_src = 1,
     .src = {{.ndim = 0}},
     .options = &(const mst_sum_replicas_options){.num_shards = 2, .num_here = 2, .shard = 1},
     .fails = MST_INVALID},
};

const mst_op mst_op_sum_replicas = {
    .name = "sum_replicas",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS | MST_INDICES,
    .flags = MST_OP_STATEFUL,
    .fields = sum_replicas_fields,
    .options_size = sizeof(mst_sum_replicas_options),
    .infer = sum_replicas_infer,
    .grad = sum_replicas_grad,
    .reference = mst_view_copy,
    .lower = sum_replicas_lower,
    MST_EXAMPLES(sum_replicas_examples),
};

mst_value mst_sum_replicas(mst_value src) {
    if (mst_value_is_none(src)) return src;
    mst_replica_place *place = mst_value_graph(src)->current.replica;
    if (place && place->is_apart)
        return mst_value_fail(mst_value_graph(src), MST_UNIMPLEMENTED,
                              "statistics of the whole batch (batch_normalization with synchronized) are added up over "
                              "all workers in the midst of a step, which workers with synchronous parameter servers do "
                              "not: train without parameter servers, or without synchronized");
    if (!place || place->num_shards == 1) return src;
    const mst_sum_replicas_options options = {.num_shards = place->num_shards,
                                              .first_shard = place->window.first,
                                              .num_here = place->window.count,
                                              .shard = place->shard,
                                              .number = place->next_sum++};
    return mst_call(NULL, &mst_op_sum_replicas, 1, &src, &options);
}
