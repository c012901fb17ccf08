/* The lowering of leaf_rows (op/state/sparse_gradient.h), a part of the pass distribute. The rows of each shard are
 * added up on the shard's device; then the node's device adds up these sums.
 *
 *      device 0   values, indices of shard 0 -> sum_rows --+
 *                                                          +-> merge_rows
 *      device 1   values, indices of shard 1 -> sum_rows --+
 *
 * Devices that compile add up the sums of shards in pairs, in the order of the fixed tree, each pair in a program of
 * its own (see update_pairs.c). */
#include "base/no_memory.h"
#include "op/state/sparse_gradient.h"
#include "plan/distribute.h"
#include "plan/update_ops.h"

/* Sets `counted_by` of VALUE, which holds rows, and of VALUE + 1, which holds the number of rows and then their
 * indices. The first element of VALUE + 1 tells how many rows are in use, in both values. */
static void set_counted(mst_plan *plan, int32_t value) {
    for (int32_t i = value; i < value + 2; i++) plan->value[i].counted_by = value + 1;
}

static mst_sum_rows_options sum_options(const mst_leaf_rows_options *o) {
    return (mst_sum_rows_options){.num_rows = o->num_rows, .squares = o->squares, .clip = o->clip};
}

/* Replaces each source that is a mirrored variable by the copy that DEVICE works with. */
static mst_status find_sources(mst_distribute_pass *d, int32_t *src, int count, int32_t device) {
    for (int i = 0; i < count; i++) {
        mst_mirror *mirror = mst_distribute_mirror(d, src[i]);
        if (mirror) MST_TRY(mst_distribute_copy(d, mirror, device, &src[i]));
    }
    return MST_OK;
}

/* Adds the node that sums the rows of one shard, from COUNT sources of node N. *OUT is the value of the summed rows. */
static mst_status add_shard(mst_distribute_pass *d, int32_t n, const int32_t *from, int count, int32_t *out) {
    mst_plan *plan = d->plan;
    const mst_plan_node *leaf = &plan->node[n];
    const mst_sum_rows_options options = sum_options(leaf->options);
    mst_spec dst[2] = {plan->value[leaf->dst].spec, plan->value[leaf->dst + 1].spec};
    int32_t *src = mst_arena_copy(&plan->memory, from, (size_t)count * sizeof *src), added;
    int64_t rows = 0;
    for (int i = 1; i < count; i += 2) rows += mst_shape_count(plan->value[from[i]].spec.shape);
    if (rows > options.num_rows) rows = options.num_rows;
    dst[0].shape.dim[0] = rows;
    dst[1].shape.dim[0] = 1 + rows;
    mst_plan_node sum = {.op = &mst_op_sum_rows,
                         .name = mst_arena_print(&plan->memory, "%s/shard", leaf->name),
                         .options = mst_arena_copy(&plan->memory, &options, sizeof options),
                         .asked = "",
                         .num_src = count,
                         .num_control = leaf->num_control,
                         .control = leaf->control,
                         .num_dst = 2,
                         .device = plan->node[plan->value[from[0]].node].device,
                         .part = plan->node[plan->value[from[0]].node].part,
                         .made = leaf->made,
                         .earliest = leaf->phase,
                         .group = -1};
    if (!src || !sum.name || !sum.options) return MST_NO_MEMORY("for a plan");
    MST_TRY(find_sources(d, src, count, sum.device));
    MST_TRY(mst_plan_add(plan, &sum, src, dst, &added));
    *out = plan->node[added].dst;
    set_counted(plan, *out);
    return MST_OK;
}

/* Turns node N, which has one shard, into the sum of the shard's rows. */
static mst_status become_sum(mst_plan *plan, int32_t n) {
    const mst_sum_rows_options options = sum_options(plan->node[n].options);
    plan->node[n].op = &mst_op_sum_rows;
    plan->node[n].options = mst_arena_copy(&plan->memory, &options, sizeof options);
    return plan->node[n].options ? MST_OK : MST_NO_MEMORY("for a plan");
}

/* Turns node N into the sum of the COUNT values SUM, which are the sums of its shards. */
static mst_status become_merge(mst_plan *plan, int32_t n, const int32_t *sum, int32_t count) {
    const int64_t num_rows = ((const mst_leaf_rows_options *)plan->node[n].options)->num_rows;
    mst_shards *leaf = mst_arena_alloc(&plan->memory, (size_t)count * sizeof *leaf);
    int32_t *src = mst_arena_alloc(&plan->memory, 2 * (size_t)count * sizeof *src);
    mst_merge_rows_options *options = mst_arena_alloc(&plan->memory, sizeof *options);
    if (!leaf || !src || !options) return MST_NO_MEMORY("for a plan");
    for (int32_t s = 0; s < count; s++) {
        leaf[s] = (mst_shards){s, 1};
        src[2 * s] = sum[s];
        src[2 * s + 1] = sum[s] + 1;
    }
    *options = (mst_merge_rows_options){.num_shards = count, .leaf = leaf, .end_row = num_rows};
    mst_plan_node *node = &plan->node[n];
    node->op = &mst_op_merge_rows;
    node->options = options;
    node->num_src = 2 * count;
    node->src = src;
    return MST_OK;
}

/* ---- on devices that compile ---- */

static int32_t device_of(const mst_plan *plan, int32_t value) {
    return plan->node[plan->value[value].node].device;
}

/* Adds a node, a program of its own, that adds up the sums PAIR[0] and PAIR[1]. Sets PAIR[0] to its output. */
static mst_status merge_pair(mst_plan *plan, int32_t n, int32_t *pair) {
    const mst_plan_node leaf = plan->node[n];
    const mst_leaf_rows_options *o = leaf.options;
    mst_spec dst[2] = {plan->value[leaf.dst].spec, plan->value[leaf.dst + 1].spec};
    const int64_t both = plan->value[pair[0]].spec.shape.dim[0] + plan->value[pair[1]].spec.shape.dim[0];
    const int64_t rows = both < o->num_rows ? both : o->num_rows;
    const int32_t first = device_of(plan, pair[0]);
    dst[0].shape.dim[0] = rows;
    dst[1].shape.dim[0] = 1 + rows;
    const mst_plan_node merge = {.op = leaf.op,
                                 .name = mst_arena_print(&plan->memory, "%s/pair", leaf.name),
                                 .options = o,
                                 .asked = "",
                                 .num_dst = 2,
                                 .device = first == device_of(plan, pair[1]) ? first : leaf.device,
                                 .part = MST_PART_ALONE,
                                 .made = leaf.made,
                                 .earliest = leaf.phase,
                                 .group = -1};
    int32_t added;
    if (!merge.name) return MST_NO_MEMORY("for a plan");
    MST_TRY(mst_plan_add(plan, &merge, NULL, dst, &added));
    MST_TRY(become_merge(plan, added, pair, 2));
    pair[0] = plan->node[added].dst;
    set_counted(plan, pair[0]);
    return MST_OK;
}

/* Adds up the COUNT values SUM, at least two, in pairs. Node N becomes the sum of the last pair. */
static mst_status merge_in_pairs(mst_plan *plan, int32_t n, int32_t *sum, int32_t count) {
    mst_shards *leaf = mst_arena_alloc(&plan->memory, (size_t)count * sizeof *leaf);
    if (!leaf) return MST_NO_MEMORY("for a plan");
    plan->node[n].part = MST_PART_ALONE;
    for (int32_t s = 0, height = 0; s < count; s++) {
        sum[height] = sum[s];
        leaf[height++] = (mst_shards){s, 1};
        while (height > 1 && mst_shards_is_right(leaf[height - 1], count)) {
            height--;
            leaf[height - 1] = mst_shards_parent(leaf[height], count);
            if (leaf[height - 1].count == count) return become_merge(plan, n, &sum[height - 1], 2);
            MST_TRY(merge_pair(plan, n, &sum[height - 1]));
        }
    }
    return MST_FAIL(MST_INTERNAL, "'%s': %d sums do not make one", plan->node[n].name, (int)count);
}

static mst_status merge_shards(mst_distribute_pass *d, int32_t n) {
    mst_plan *plan = d->plan;
    const int32_t count = ((const mst_leaf_rows_options *)plan->node[n].options)->num_shards;
    const int each = plan->node[n].num_src / count;
    int32_t *sum = mst_arena_alloc(&plan->memory, (size_t)count * sizeof *sum);
    if (!sum) return MST_NO_MEMORY("for a plan");
    for (int32_t s = 0; s < count; s++)
        MST_TRY(add_shard(d, n, plan->node[n].src + (ptrdiff_t)s * each, each, &sum[s]));
    return mst_plan_compiles(plan, &plan->node[n]) ? merge_in_pairs(plan, n, sum, count)
                                                   : become_merge(plan, n, sum, count);
}

mst_status mst_distribute_leaf_rows(mst_distribute_pass *d, int32_t n) {
    const mst_leaf_rows_options *o = d->plan->node[n].options;
    set_counted(d->plan, d->plan->node[n].dst);
    return o->num_shards == 1 ? become_sum(d->plan, n) : merge_shards(d, n);
}
