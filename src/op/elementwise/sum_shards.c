/** sum_shards: dst = the sum over the shards of all tasks
 *
 *  leaves  one value for each leaf of this task's window (collective/group.h), of one dtype (f32, f64, i32 or i64) and
 *          shape
 *  dst     like them
 *
 *  The plan lowers the node: the tasks exchange their leaves, and each adds them up in the tree over all shards. If
 *  the window is all shards there is one leaf, which is the sum.
 *
 *  Strategies build it.
 */
#include "op/elementwise/sum_shards.h"

#include "op/op.h"
#include "op/shape/strided.h"

static const mst_field sum_shards_fields[] = {
    MST_FIELD_I32(mst_sum_shards_options, num_shards, 1, 1, 1 << 20, "shards of all tasks"),
    MST_FIELD_I32(mst_sum_shards_options, first_shard, 0, 0, 1 << 20, "first shard of this task"),
    MST_FIELD_I32(mst_sum_shards_options, num_here, 1, 1, 1 << 20, "shards of this task"),
    MST_FIELD_I32(mst_sum_shards_options, round, 0, 0, MST_NUM_SUM_ROUNDS - 1,
                  "0: the backward pass needs it; 1: late"),
    MST_FIELD_END,
};

static mst_status sum_shards_infer(mst_infer *c) {
    const mst_sum_shards_options *o = c->options;
    const int32_t end = o->first_shard + o->num_here;
    int32_t leaves = 0;
    if (end > o->num_shards) return mst_infer_fail(c, "shards %d to %d of %d", o->first_shard, end - 1, o->num_shards);
    for (int32_t first = o->first_shard; first < end; leaves++)
        first += mst_shards_within(first, end, o->num_shards).count;
    if (c->num_src != leaves)
        return mst_infer_fail(c, "has %d sources, but shards %d to %d of %d have %d leaves", c->num_src, o->first_shard,
                              end - 1, o->num_shards, leaves);
    MST_TRY(mst_infer_want_listed(c, 0));
    return mst_infer_sources_alike(c, -1, &c->dst[0]);
}

/* With one leaf, the leaf is the sum. A node with several leaves is not written: the plan has replaced it by nodes that
 * exchange the leaves. */
static void sum_shards_lower(mst_lower *l) {
    if (l->num_src == 1)
        l->dst[0] = l->src[0];
    else
        mst_hlo_fail(l, "%d leaves, which the plan exchanges", l->num_src);
}

static const mst_example sum_shards_examples[] = {
    {.name = "all shards",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){1, 2}}},
     .options = &(const mst_sum_shards_options){.num_shards = 4, .num_here = 4},
     .expect = {(const double[]){1, 2}}},
    {.name = "two leaves of one source",
     .num_src = 1,
     .src = {{.ndim = 0}},
     .options = &(const mst_sum_shards_options){.num_shards = 4, .num_here = 3},
     .fails = MST_INVALID},
    {.name = "past the last shard",
     .num_src = 1,
     .src = {{.ndim = 0}},
     .options = &(const mst_sum_shards_options){.num_shards = 4, .first_shard = 3, .num_here = 2},
     .fails = MST_INVALID},
};

const mst_op mst_op_sum_shards = {
    .name = "sum_shards",
    .num_src = MST_VARIADIC,
    .num_dst = 1,
    .dtypes = MST_FLOATS | MST_INDICES,
    .flags = MST_OP_STATEFUL,
    .fields = sum_shards_fields,
    .options_size = sizeof(mst_sum_shards_options),
    .infer = sum_shards_infer,
    .reference = mst_view_copy,
    .lower = sum_shards_lower,
    MST_EXAMPLES(sum_shards_examples),
};

mst_value mst_sum_shards(const mst_value *values, mst_shards window, int32_t num_shards, mst_sum_round round) {
    enum { MOST = 2 * MST_SHARD_LEVELS }; /* most leaves: their sizes grow up to the middle of a window, then shrink */
    const mst_sum_shards_options options = {
        .num_shards = num_shards, .first_shard = window.first, .num_here = window.count, .round = (int32_t)round};
    mst_value leaf[MOST];
    int n = 0;
    for (int32_t at = 0; at < window.count;) {
        const int32_t count = mst_shards_within(window.first + at, window.first + window.count, num_shards).count;
        leaf[n++] = count > 1 ? mst_add_n(values + at, count) : values[at];
        at += count;
    }
    return mst_call(NULL, &mst_op_sum_shards, n, leaf, &options);
}
