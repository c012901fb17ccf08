/* vote: decides when this task promises the others that it can make the step.
 *
 * Either all tasks write the state of a step or none does. So each task votes before it writes: it starts a certain
 * exchange only when everything in its body that can fail is done. A task makes the step when it has received the sums
 * of all exchanges, and with them the votes of all other tasks. No message is sent for a vote alone.
 *
 * This exchange is the last one that sums reported values, such as losses. A step without one gets an exchange of no
 * values. Nodes that need its sums come after it and must not be able to fail: they divide and add numbers. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/rng.h"
#include "plan/task_sums.h"

/* Marks in AFTER the live nodes that depend on node FROM. */
static void mark_after(const mst_plan *plan, int32_t from, bool *after) {
    for (int64_t k = 0; k < plan->num_order; k++) {
        const int32_t n = plan->order[k];
        const mst_plan_node *node = &plan->node[n];
        bool marked = n == from;
        for (int i = 0; i < node->num_src && !marked; i++) marked = after[plan->value[node->src[i]].node];
        for (int i = 0; i < node->num_control && !marked; i++) marked = after[node->control[i]];
        after[n] = marked;
    }
}

/* Whether NODE waits for sums, and so can fail only because the generation ends, which ends the step in all tasks.
 * A wait for rows can fail in this task alone, because the rows are checked and need memory. */
static bool waits_for_sums(const mst_plan *plan, const mst_plan_node *node) {
    return node->op == &mst_op_exchange_wait && !plan->exchange[node->port].rows;
}

static mst_status add_vote(mst_plan *plan) {
    const int32_t start = plan->exchange[plan->vote].start, wait = plan->exchange[plan->vote].wait;
    bool *after = calloc((size_t)plan->num_nodes + 1, sizeof *after);
    if (!after) return MST_NO_MEMORY("for a plan");
    mark_after(plan, start, after);
    mst_status status = MST_OK;
    for (int64_t k = 0; k < plan->num_order && !status; k++) {
        const int32_t n = plan->order[k];
        const mst_plan_node *node = &plan->node[n];
        if (after[n] || n == wait || node->region != MST_BODY || !node->fallible) continue;
        if (waits_for_sums(plan, node) || mst_plan_is_silent(plan, node)) continue;
        status = mst_plan_add_control(plan, start, n);
    }
    free(after);
    return status;
}

/* Hash of a value of an exchange. The largest number of rows that a task may send is not included, because it may
 * differ between tasks. */
static uint64_t hash_value(const mst_plan_exchange *x, int32_t v) {
    if (!x->rows) return mst_rng_mix(x->value[v].dtype, (uint64_t)x->value[v].count);
    const mst_row_exchange_value *rows = &x->rows[v / 2];
    return mst_rng_mix(mst_rng_mix(rows->dtype, (uint64_t)rows->num_rows), (uint64_t)rows->columns);
}

/* Hash of what the tasks must agree on: which values are summed, and in which order. */
static uint64_t hash_exchanges(const mst_plan *plan) {
    uint64_t hash = mst_rng_mix((uint64_t)plan->num_exchanges, plan->commits);
    for (int64_t x = 0; x < plan->num_exchanges; x++) {
        const mst_plan_exchange *exchange = &plan->exchange[x];
        hash = mst_rng_mix(hash, mst_rng_hash_name(plan->node[exchange->start].name));
        if (exchange->kind) hash = mst_rng_mix(hash, (uint64_t)exchange->kind);
        for (int32_t v = 0; v < exchange->num_values; v++) hash = mst_rng_mix(hash, hash_value(exchange, v));
    }
    return hash;
}

mst_status mst_plan_vote(mst_plan *plan) {
    if (plan->num_exchanges == 0) return MST_OK;
    plan->exchange_hash = hash_exchanges(plan);
    if (!plan->commits) plan->vote = -1; /* a step that writes nothing needs no vote */
    if (plan->vote < 0) return MST_OK;
    MST_TRY(mst_plan_sort(plan));
    return add_vote(plan);
}
