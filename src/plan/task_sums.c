/* Exchanges: sums over the shards of all tasks, a part of the pass distribute.
 *
 * An exchange is two nodes on one device. The first hands over this task's leaves of each value and goes on at once;
 * the second waits for the sums. Between them the device runs nodes that do not need the sums (plan/schedule.c):
 *
 *      gradient of layer 2                     leaves ----> exchange_start
 *      gradient of layer 1                     other work       |
 *      ...                                                      v
 *      update                                  sums   <---- exchange_wait
 *
 * The memory of leaves and sums is the exchange's own (MST_IN_LEAF, MST_IN_SUM), since other threads read and write it
 * meanwhile. A gradient is computed in the memory from which it is sent, unless its place is already fixed by something
 * else (mst_plan_place_leaves).
 *
 * All tasks make their exchanges in the same order, that of the common graph. The window and the devices of a task
 * decide which values are its leaves. The number of exchanges, and what they sum, depends on neither. */
#include "plan/task_sums.h"

#include <string.h>

#include "base/no_memory.h"
#include "collective/group.h"
#include "op/elementwise/sum_shards.h"
#include "op/list.h"

mst_status mst_plan_check_window(const mst_plan *plan, int32_t n, mst_shards window, int32_t num_shards) {
    const mst_task_group *group = plan->host->group;
    const char *name = plan->node[n].name;
    if (!group)
        return MST_FAIL(MST_INVALID,
                        "'%s' has shards %d to %d of %d: the others are of other tasks, but this session is of no "
                        "cluster",
                        name, window.first, window.first + window.count - 1, num_shards);
    const mst_shards own = mst_group_window(group, mst_group_self(group));
    if (own.first == window.first && own.count == window.count && mst_group_num_shards(group) == num_shards)
        return MST_OK;
    return MST_FAIL(MST_INVALID, "'%s' has shards %d to %d of %d, but this task has shards %d to %d of %d", name,
                    window.first, window.first + window.count - 1, num_shards, own.first, own.first + own.count - 1,
                    mst_group_num_shards(group));
}

/* ---- one exchange ---- */

/* A node for one end, OP, of the exchange that is added next. */
static mst_plan_node end_of(const mst_plan *plan, const mst_plan_sums *sums, const mst_op *op) {
    return (mst_plan_node){.op = op,
                           .name = sums->name,
                           .asked = "",
                           .device = sums->device,
                           .port = (int32_t)plan->num_exchanges,
                           .group = -1};
}

static mst_status add_start(mst_plan *plan, const mst_plan_sums *sums, int32_t *out) {
    mst_plan_node start = end_of(plan, sums, &mst_op_exchange_start);
    start.num_src = sums->num_values * sums->num_leaves;
    return mst_plan_add(plan, &start, sums->leaf, NULL, out);
}

/* Number of elements of value V of a scatter or gather: of this task's part, or with ALL of the parts of all tasks. */
static int64_t part_count(const mst_plan *plan, const mst_plan_sums *sums, int32_t v, bool all) {
    const int32_t members = mst_group_size(plan->host->group), self = mst_group_self(plan->host->group);
    const int64_t *begin = sums->begin + (int64_t)v * (members + 1);
    return all ? begin[members] : begin[self + 1] - begin[self];
}

/* The spec of the sum of value V. A sum of rows has room for all rows of the variable, because the number of rows that
 * other tasks send is not known. Values of rows come in pairs: the rows, and an array with the number of rows followed
 * by their indices. So the second array has one element more than there are rows. */
static mst_spec sum_spec(const mst_plan *plan, const mst_plan_sums *sums, int32_t v) {
    mst_spec spec = plan->value[sums->leaf[v * sums->num_leaves]].spec;
    if (sums->num_rows) spec.shape.dim[0] = sums->num_rows[v / 2] + v % 2;
    if (sums->begin) {
        const int64_t count = part_count(plan, sums, v, sums->kind == MST_EXCHANGE_GATHER);
        spec.shape = mst_shape_make(1, &count);
    }
    return spec;
}

static mst_status add_wait(mst_plan *plan, const mst_plan_sums *sums, int32_t start, int32_t *out) {
    mst_plan_node wait = end_of(plan, sums, &mst_op_exchange_wait);
    mst_spec *spec = mst_arena_alloc(&plan->memory, (size_t)(sums->num_values + 1) * sizeof *spec);
    if (!spec) return MST_NO_MEMORY("for a plan");
    for (int32_t v = 0; v < sums->num_values; v++) spec[v] = sum_spec(plan, sums, v);
    wait.num_dst = sums->num_values;
    wait.num_control = 1;
    wait.control = &start;
    MST_TRY(mst_plan_add(plan, &wait, NULL, spec, out));
    for (int32_t v = 0; v < sums->num_values; v++) {
        mst_plan_value *value = &plan->value[plan->node[*out].dst + v];
        value->space = MST_IN_SUM;
        value->index = (int32_t)plan->num_exchanges;
        value->offset = v;
        /* the array of indices begins with the number of rows in use, of both values of the pair */
        if (sums->num_rows) value->counted_by = plan->node[*out].dst + v / 2 * 2 + 1;
    }
    return MST_OK;
}

static mst_status describe_values(mst_plan *plan, const mst_plan_sums *sums, mst_plan_exchange *x) {
    x->value = mst_arena_alloc(&plan->memory, (size_t)(sums->num_values + 1) * sizeof *x->value);
    if (!x->value) return MST_NO_MEMORY("for a plan");
    for (int32_t v = 0; v < sums->num_values; v++) {
        const mst_spec spec = sum_spec(plan, sums, v);
        x->value[v] = (mst_exchange_value){
            .dtype = spec.dtype, .count = sums->begin ? part_count(plan, sums, v, true) : mst_shape_count(spec.shape)};
    }
    return MST_OK;
}

static mst_status describe_rows(mst_plan *plan, const mst_plan_sums *sums, mst_plan_exchange *x) {
    x->rows = mst_arena_alloc(&plan->memory, (size_t)(sums->num_values / 2 + 1) * sizeof *x->rows);
    if (!x->rows) return MST_NO_MEMORY("for a plan");
    for (int32_t v = 0; v < sums->num_values; v += 2) {
        const mst_spec spec = sum_spec(plan, sums, v);
        int64_t most = 0;
        for (int32_t l = 0; l < sums->num_leaves; l++) {
            const int64_t rows = plan->value[sums->leaf[v * sums->num_leaves + l]].spec.shape.dim[0];
            if (rows > most) most = rows;
        }
        x->rows[v / 2] = (mst_row_exchange_value){.dtype = spec.dtype,
                                                  .num_rows = spec.shape.dim[0],
                                                  .columns = mst_shape_count(spec.shape) / spec.shape.dim[0],
                                                  .most = most};
    }
    return MST_OK;
}

mst_status mst_plan_add_exchange(mst_plan *plan, const mst_plan_sums *sums, int32_t *out) {
    mst_plan_exchange x = {
        .kind = sums->kind, .begin = sums->begin, .num_values = sums->num_values, .num_leaves = sums->num_leaves};
    MST_TRY(sums->num_rows ? describe_rows(plan, sums, &x) : describe_values(plan, sums, &x));
    MST_TRY(mst_grow(&plan->exchange, sizeof *plan->exchange, plan->num_exchanges + 1, &plan->exchange_capacity));
    MST_TRY(add_start(plan, sums, &x.start));
    MST_TRY(add_wait(plan, sums, x.start, &x.wait));
    MST_TRY(mst_plan_add_effect(plan, x.wait)); /* the other tasks take part whether or not this one needs the sums */
    for (int32_t v = 0; v < sums->num_values; v++) out[v] = plan->node[x.wait].dst + v;
    plan->exchange[plan->num_exchanges++] = x;
    return MST_OK;
}

/* ---- where leaves are made ---- */

/* The value in whose memory VALUE lies; -1 if VALUE is only a part of it. */
static int32_t whole_root(const mst_plan *plan, int32_t value) {
    for (const mst_plan_node *node = &plan->node[plan->value[value].node]; mst_plan_is_view(node);
         node = &plan->node[plan->value[value].node]) {
        const int32_t src = node->src[0];
        if (mst_plan_bytes(&plan->value[src]) != mst_plan_bytes(&plan->value[value])) return -1;
        value = src;
    }
    return value;
}

/* Whether VALUE can be computed in any memory of the host. */
static bool can_be_anywhere(const mst_plan *plan, int32_t value) {
    const mst_plan_value *v = &plan->value[value];
    const mst_plan_node *node = &plan->node[v->node];
    return v->space == MST_IN_ARENA && !v->constant && !(node->op->flags & (MST_OP_VARIABLE | MST_OP_NO_VALUE)) &&
           mst_plan_domain(plan, node->device)->type->host;
}

/* Bytes of the memory of an exchange. For rows, each other task may send as many as this one. */
static int64_t bytes_of_exchange(const mst_plan *plan, const mst_plan_exchange *x) {
    const mst_plan_node *start = &plan->node[x->start], *wait = &plan->node[x->wait];
    int64_t leaves = 0, sums = 0;
    for (int i = 0; i < start->num_src; i++) leaves += mst_plan_bytes(&plan->value[start->src[i]]);
    for (int i = 0; i < wait->num_dst; i++) sums += mst_plan_bytes(&plan->value[wait->dst + i]);
    if (x->kind == MST_EXCHANGE_GATHER) return sums; /* the leaf lies in the sum */
    return (x->rows ? mst_group_size(plan->host->group) : 1) * leaves + sums;
}

void mst_plan_place_leaves(mst_plan *plan) {
    for (int64_t x = 0; x < plan->num_exchanges; x++) {
        const mst_plan_node *start = &plan->node[plan->exchange[x].start];
        const int32_t values = plan->exchange[x].num_values, leaves = plan->exchange[x].num_leaves;
        plan->program[start->device].exchange_bytes += bytes_of_exchange(plan, &plan->exchange[x]);
        for (int32_t v = 0; v < values; v++) {
            const int32_t *leaf = &start->src[v * leaves];
            for (int32_t l = 0; l < leaves; l++) {
                const int32_t root = whole_root(plan, leaf[l]);
                if (root < 0 || !can_be_anywhere(plan, root)) continue;
                plan->value[root].space = MST_IN_LEAF;
                plan->value[root].index = (int32_t)x;
                plan->value[root].offset = (int64_t)l * values + v;
            }
        }
    }
}

/* ---- sum_shards ---- */

/* Whether node N is a sum of ROUND that still has to be lowered. A sum whose window is all shards needs no exchange. */
static bool is_of_round(const mst_plan *plan, int64_t n, mst_sum_round round, bool compiled) {
    const mst_plan_node *node = &plan->node[n];
    const mst_sum_shards_options *o = node->options;
    if (node->op != &mst_op_sum_shards || node->dead || o->num_here == o->num_shards) return false;
    return o->round == (int32_t)round && (!compiled || mst_plan_compiles(plan, node));
}

/* Turns NODE, a sum_shards, into an identity of SUM. */
static void take_sum(mst_plan_node *node, int32_t sum) {
    node->op = &mst_op_identity;
    node->options = NULL;
    node->num_src = 1;
    node->src[0] = sum;
}

/* Lowers the sums of ROUND; COMPILED: only those on devices that compile. */
static mst_status lower_round(mst_distribute_pass *d, mst_sum_round round, bool compiled, const char *name) {
    mst_plan *plan = d->plan;
    int32_t count = 0;
    for (int64_t n = 0; n < d->num_imported; n++) {
        if (!is_of_round(plan, n, round, compiled)) continue;
        const mst_sum_shards_options *o = plan->node[n].options;
        MST_TRY(mst_plan_check_window(plan, (int32_t)n, (mst_shards){o->first_shard, o->num_here}, o->num_shards));
        count++;
    }
    if (count == 0) return MST_OK;
    const int32_t leaves = mst_group_leaves(plan->host->group, mst_group_self(plan->host->group), NULL);
    int32_t *leaf = mst_arena_alloc(&plan->memory, (size_t)count * (size_t)leaves * sizeof *leaf);
    int32_t *node = mst_arena_alloc(&plan->memory, (size_t)count * sizeof *node);
    int32_t *sum = mst_arena_alloc(&plan->memory, (size_t)count * sizeof *sum);
    if (!leaf || !node || !sum) return MST_NO_MEMORY("for a plan");
    count = 0;
    for (int64_t n = 0; n < d->num_imported; n++) {
        if (!is_of_round(plan, n, round, compiled)) continue;
        memcpy(leaf + count * leaves, plan->node[n].src, (size_t)leaves * sizeof *leaf);
        node[count++] = (int32_t)n;
    }
    const mst_plan_sums sums = {
        .name = name, .device = plan->node[node[0]].device, .num_values = count, .num_leaves = leaves, .leaf = leaf};
    MST_TRY(mst_plan_add_exchange(plan, &sums, sum));
    for (int32_t v = 0; v < count; v++) take_sum(&plan->node[node[v]], sum[v]);
    return MST_OK;
}

mst_status mst_distribute_sums(mst_distribute_pass *d) {
    mst_plan *plan = d->plan;
    MST_TRY(lower_round(d, MST_SUM_EARLY, false, "early_sums"));
    MST_TRY(mst_distribute_replica_sums(d));
    /* a program that needs sums may fail, so they must come before the vote */
    MST_TRY(lower_round(d, MST_SUM_LATE, true, "statistics"));
    const int64_t before = plan->num_exchanges;
    MST_TRY(lower_round(d, MST_SUM_LATE, false, "late_sums"));
    if (plan->num_exchanges == 0) return MST_OK;
    /* This task's vote travels with the exchange of the late sums, which is the last (plan/vote.c). If there are no
     * late sums, an exchange without values carries it. */
    plan->vote = (int32_t)before;
    return plan->num_exchanges > before
               ? MST_OK
               : mst_plan_add_exchange(plan, &(mst_plan_sums){.name = "vote", .num_leaves = 1}, NULL);
}
