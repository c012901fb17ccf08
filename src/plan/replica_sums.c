/* replica_sums: joins the nodes sum_replicas of all shards into one sum, as a part of the pass distribute.
 *
 *      shard 0:  part ---> sum_replicas 7          part --+
 *      shard 1:  part ---> sum_replicas 7    to    part --+--> add_n ----> identity of shard 0, 1, ...
 *
 * In a cluster the tasks exchange the sums of the leaves of their windows. All tasks start these exchanges in one
 * order: each exchange comes after the start of the one before. Then no two tasks wait for each other, since a task
 * that waits for an exchange has started all exchanges before it.
 *
 * That order is by depth, which is the largest number of sums on any path to a sum, then by number. So a sum never
 * waits for a deeper one. On devices that compile, programs then have the same nodes whether or not there are other
 * tasks (programs.c). */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/shard_tree.h"
#include "graph/spec.h"
#include "op/elementwise/sum_replicas.h"
#include "op/list.h"
#include "plan/task_sums.h"

/* A node sum_replicas with its options: one part of a sum. */
typedef struct part {
    const mst_sum_replicas_options *options;
    int32_t node;
    int32_t depth; /* of the sum, the same for all its parts */
} part;

static int by_number_and_shard(const void *a, const void *b) {
    const mst_sum_replicas_options *x = ((const part *)a)->options, *y = ((const part *)b)->options;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return (x->shard > y->shard) - (x->shard < y->shard);
}

static int by_depth_number_and_shard(const void *a, const void *b) {
    const int32_t x = ((const part *)a)->depth, y = ((const part *)b)->depth;
    return x != y ? (x > y) - (x < y) : by_number_and_shard(a, b);
}

/* Sets COUNT to the number of parts that have the same sum_replicas number as the first part. Fails if there is not one
 * part for each shard of this task, or if parts differ in dtype or shape. */
static mst_status find_group(const mst_plan *plan, const part *parts, int64_t left, int32_t *count) {
    const mst_sum_replicas_options *o = parts[0].options;
    const mst_plan_node *first = &plan->node[parts[0].node];
    const mst_spec *spec = &plan->value[first->src[0]].spec;
    for (*count = 0; *count < left && parts[*count].options->number == o->number; ++*count) {
        const mst_plan_node *node = &plan->node[parts[*count].node];
        if (!mst_spec_equal(&plan->value[node->src[0]].spec, spec))
            return MST_FAIL(MST_INVALID, "'%s' and '%s', of two shards, have sources of two shapes", first->name,
                            node->name);
    }
    if (*count != o->num_here)
        return MST_FAIL(MST_INVALID,
                        "'%s' is a sum over %d shards, but the run needs those of %d: run what depends on all shards",
                        first->name, (int)o->num_here, (int)*count);
    return MST_OK;
}

/* Sets OUT to the sum of COUNT parts in the order of the tree: a new node, or the part itself if there is one. */
static mst_status add_sum(mst_plan *plan, const part *parts, int32_t count, int32_t *out) {
    const mst_plan_node *first = &plan->node[parts[0].node];
    int32_t *src = mst_arena_alloc(&plan->memory, (size_t)count * sizeof *src), added;
    const mst_spec spec = plan->value[first->src[0]].spec;
    mst_plan_node sum = {.op = &mst_op_add_n,
                         .name = mst_arena_print(&plan->memory, "%s/sum", first->name),
                         .asked = "",
                         .num_src = count,
                         .num_dst = 1,
                         .device = first->device,
                         .made = first->made,
                         .earliest = first->phase,
                         .group = -1};
    if (!src || !sum.name) return MST_NO_MEMORY("for a plan");
    sum.part = mst_plan_compiles(plan, first) ? MST_PART_ALONE : MST_PART_REST;
    for (int32_t i = 0; i < count; i++) src[i] = plan->node[parts[i].node].src[0];
    *out = src[0];
    if (count == 1) return MST_OK;
    MST_TRY(mst_plan_add(plan, &sum, src, &spec, &added));
    *out = plan->node[added].dst;
    return MST_OK;
}

/* Sets OUT to the sum over the shards of all tasks, by an exchange. */
static mst_status exchange_sum(mst_plan *plan, const part *parts, int32_t *out) {
    enum { MOST = 2 * MST_SHARD_LEVELS }; /* a window has at most two leaves on each level of the tree */
    const mst_sum_replicas_options *o = parts[0].options;
    int32_t leaf[MOST], num_leaves = 0;
    MST_TRY(mst_plan_check_window(plan, parts[0].node, (mst_shards){o->first_shard, o->num_here}, o->num_shards));
    for (int32_t at = 0; at < o->num_here; num_leaves++) {
        const int32_t first = o->first_shard + at;
        const int32_t count = mst_shards_within(first, o->first_shard + o->num_here, o->num_shards).count;
        MST_TRY(add_sum(plan, parts + at, count, &leaf[num_leaves]));
        at += count;
    }
    int32_t *leaves = mst_arena_copy(&plan->memory, leaf, (size_t)num_leaves * sizeof *leaves);
    if (!leaves) return MST_NO_MEMORY("for a plan");
    const int64_t before = plan->num_exchanges;
    const mst_plan_sums sums = {.name = "replica_sum",
                                .device = plan->node[parts[0].node].device,
                                .num_values = 1,
                                .num_leaves = num_leaves,
                                .leaf = leaves};
    MST_TRY(mst_plan_add_exchange(plan, &sums, out));
    if (before == 0) return MST_OK;
    return mst_plan_add_control(plan, plan->exchange[before].start, plan->exchange[before - 1].start);
}

static mst_status lower_all(mst_plan *plan, const part *parts, int64_t count) {
    for (int64_t at = 0; at < count;) {
        const mst_sum_replicas_options *o = parts[at].options;
        int32_t here, sum;
        MST_TRY(find_group(plan, parts + at, count - at, &here));
        if (here < o->num_shards)
            MST_TRY(exchange_sum(plan, parts + at, &sum));
        else
            MST_TRY(add_sum(plan, parts + at, here, &sum));
        for (int32_t i = 0; i < here; i++) {
            mst_plan_node *node = &plan->node[parts[at + i].node];
            node->op = &mst_op_identity;
            node->options = NULL;
            node->src[0] = sum;
        }
        at += here;
    }
    return MST_OK;
}

/* Finds the depths of the sums. PARTS are sorted by number. On entry SUM, by node, is all -1, and DEPTH, by node or
 * sum, is all 0. A sum is as deep as its deepest part, because a node that waits for the sum waits for that part. This
 * may raise depths of nodes that were visited before, so rounds are repeated until no depth rises. At most as many
 * rounds are needed as there are sums. */
static mst_status find_depths(mst_plan *plan, part *parts, int64_t count, int32_t *sum, int32_t *depth) {
    int32_t *const depth_of_sum = depth + plan->num_nodes;
    int32_t num_sums = 0;
    bool rises = true;
    MST_TRY(mst_plan_sort(plan));
    for (int64_t i = 0; i < count; i++) {
        num_sums += i == 0 || parts[i].options->number != parts[i - 1].options->number;
        sum[parts[i].node] = num_sums - 1;
    }
    for (int32_t round = 0; round < num_sums && rises; round++) {
        rises = false;
        for (int64_t k = 0; k < plan->num_order; k++) {
            const int32_t n = plan->order[k];
            const mst_plan_node *node = &plan->node[n];
            for (int i = 0; i < node->num_src + node->num_control; i++) {
                const int32_t from =
                    i < node->num_src ? plan->value[node->src[i]].node : node->control[i - node->num_src];
                const int32_t through = sum[from] < 0 ? depth[from] : depth_of_sum[sum[from]] + 1;
                if (through > depth[n]) depth[n] = through;
            }
            if (sum[n] < 0 || depth[n] <= depth_of_sum[sum[n]]) continue;
            depth_of_sum[sum[n]] = depth[n];
            rises = true;
        }
    }
    for (int64_t i = 0; i < count; i++) parts[i].depth = depth_of_sum[sum[parts[i].node]];
    return MST_OK;
}

static mst_status sum_parts(mst_plan *plan, part *parts, int64_t count) {
    const size_t nodes = (size_t)plan->num_nodes;
    int32_t *sum = malloc((nodes + 1) * sizeof *sum), *depth = calloc(nodes + (size_t)count + 1, sizeof *depth);
    if (sum) memset(sum, -1, (nodes + 1) * sizeof *sum);
    qsort(parts, (size_t)count, sizeof *parts, by_number_and_shard);
    const mst_status status = sum && depth ? find_depths(plan, parts, count, sum, depth) : MST_NO_MEMORY("for a plan");
    free(sum);
    free(depth);
    if (status) return status;
    qsort(parts, (size_t)count, sizeof *parts, by_depth_number_and_shard);
    return lower_all(plan, parts, count);
}

mst_status mst_distribute_replica_sums(mst_distribute_pass *d) {
    mst_plan *plan = d->plan;
    int64_t count = 0;
    for (int64_t n = 0; n < d->num_imported; n++)
        count += plan->node[n].op == &mst_op_sum_replicas && !plan->node[n].dead;
    if (count == 0) return MST_OK;
    part *parts = calloc((size_t)count, sizeof *parts);
    if (!parts) return MST_NO_MEMORY("for a plan");
    count = 0;
    for (int32_t n = 0; n < d->num_imported; n++)
        if (plan->node[n].op == &mst_op_sum_replicas && !plan->node[n].dead)
            parts[count++] = (part){.options = plan->node[n].options, .node = n};
    const mst_status status = sum_parts(plan, parts, count);
    free(parts);
    return status;
}
