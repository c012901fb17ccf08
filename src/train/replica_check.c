#include "train/replica_check.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "base/rng.h"
#include "collective/collectives.h"
#include "graph/graph.h"
#include "graph/options.h"
#include "store/replica_hash.h"
#include "store/store.h"
#include "task/task.h"
#include "train/trainer.h"

/* The weights of the graph. All workers have them in the same order. */
typedef struct weight_list {
    const mst_node **node;
    int64_t count;
} weight_list;

static mst_status list_weights(const mst_graph *graph, weight_list *out) {
    *out = (weight_list){.node = calloc((size_t)graph->num_nodes + 1, sizeof *out->node)};
    if (!out->node) return MST_NO_MEMORY("to compare replicas");
    for (int64_t n = 0; n < graph->num_nodes; n++) {
        const mst_node *node = graph->node[n];
        if (!(node->op->flags & MST_OP_VARIABLE)) continue;
        if (((const mst_variable_options *)node->options)->kind == MST_STATE_WEIGHT) out->node[out->count++] = node;
    }
    return MST_OK;
}

static const char advice[] =
    "a device, its memory or a kernel has failed: go on from a checkpoint that was written before";

/* ---- the devices of this process ---- */

static mst_status devices_differ(const mst_trainer *trainer, const mst_node *node, const mst_replica_hash *replicas,
                                 int64_t step) {
    const mst_task *task = trainer->options.task;
    const mst_status status =
        MST_FAIL(MST_CORRUPT, "after step %lld '%s' differs between %s and %s%s%s: %s", (long long)step, node->name,
                 replicas->first, replicas->place, task ? " of " : "",
                 task ? mst_task_name(task, mst_task_worker(task)) : "", advice);
    mst_error_at(node->name, replicas->place);
    return status;
}

/* Hashes all weights, and compares the replicas of this process' devices. HASH: [number of weights]. */
static mst_status hash_weights(const mst_trainer *trainer, const weight_list *weights, int64_t step, uint64_t *hash) {
    for (int64_t i = 0; i < weights->count; i++) {
        const mst_node *node = weights->node[i];
        const mst_variable_options *o = node->options;
        mst_replica_hash replicas;
        const mst_status status = mst_store_hash_replicas(trainer->model->store, o->container, node->name, &replicas);
        /* MST_NOT_FOUND: the weight has no value yet on this worker */
        if (status && status != MST_NOT_FOUND) return status;
        if (replicas.differs) return devices_differ(trainer, node, &replicas, step);
        hash[i] = replicas.hash;
    }
    return MST_OK;
}

/* ---- the workers ---- */

/* The number of the N workers that have the same hash as worker W. ALL: [n][count]. */
static int32_t num_alike(const uint64_t *all, int32_t n, int64_t count, int64_t weight, int32_t w) {
    int32_t alike = 0;
    for (int32_t i = 0; i < n; i++) alike += all[i * count + weight] == all[w * count + weight];
    return alike;
}

/* The name of member M of the workers that train. */
static const char *member_name(const mst_task *task, int32_t m) {
    return mst_task_name(task, mst_group_task(mst_task_shards(task), m));
}

static mst_status workers_differ(const mst_task *task, const mst_node *node, int32_t wrong, int32_t right, bool most,
                                 int64_t step) {
    static const char types[] =
        "or the workers have processors of several types, which compute other bits: then take "
        "equal machines, or train without the comparison (check_replicas -1)";
    if (most)
        MST_FAIL(MST_CORRUPT, "after step %lld '%s' of %s is not that of %s and most workers: %s; %s", (long long)step,
                 node->name, member_name(task, wrong), member_name(task, right), advice, types);
    else
        MST_FAIL(MST_CORRUPT, "after step %lld '%s' differs between %s and %s: %s; %s", (long long)step, node->name,
                 member_name(task, right), member_name(task, wrong), advice, types);
    return mst_error_at(node->name, NULL);
}

/* Compares weight I of all workers. The value that most of them have is taken to be right. All workers get the same
 * result. ALL: the hashes, [number of workers][number of weights]. */
static mst_status compare_weight(const mst_task *task, const weight_list *weights, const uint64_t *all, int64_t i,
                                 int64_t step) {
    const int32_t n = mst_group_size(mst_task_shards(task));
    const int64_t count = weights->count;
    int32_t right = 0, wrong = -1;
    for (int32_t w = 1; w < n; w++)
        if (num_alike(all, n, count, i, w) > num_alike(all, n, count, i, right)) right = w;
    for (int32_t w = n - 1; w >= 0; w--)
        if (all[w * count + i] != all[right * count + i]) wrong = w;
    if (wrong < 0) return MST_OK;
    return workers_differ(task, weights->node[i], wrong, right, 2 * num_alike(all, n, count, i, right) > n, step);
}

/* Compares the hashes of all workers. ALL: [number of workers][number of weights]; the row of this worker is filled
 * in. */
static mst_status compare_workers(mst_trainer *trainer, const weight_list *weights, int64_t step, uint64_t *all) {
    mst_task *task = trainer->options.task;
    const double timeout = trainer->options.session.timeout;
    const int32_t n = mst_group_size(mst_task_shards(task));
    size_t *bytes = calloc((size_t)n, sizeof *bytes);
    if (!bytes) return MST_NO_MEMORY("to compare replicas");
    for (int32_t w = 0; w < n; w++) bytes[w] = (size_t)weights->count * sizeof *all;
    mst_status status = mst_group_all_gather(mst_task_shards(task), bytes, all,
                                             mst_clock_after(timeout > 0 ? timeout : MST_DEFAULT_TIMEOUT));
    free(bytes);
    if (MST_COOPERATION_SAYS(trainer, is_lost, trainer, status)) return MST_OK;
    for (int64_t i = 0; i < weights->count && !status; i++) status = compare_weight(task, weights, all, i, step);
    return status;
}

mst_status mst_replicas_check(mst_trainer *trainer, int64_t step) {
    mst_task *task = trainer->options.task;
    weight_list weights;
    const mst_strategy_kind kind = trainer->strategy.kind;
    if (kind != MST_STRATEGY_MULTI_WORKER && kind != MST_STRATEGY_MIRRORED) return MST_OK; /* there is one replica */
    MST_TRY(list_weights(trainer->graph, &weights));
    const mst_task_group *group = task ? mst_task_shards(task) : NULL;
    const size_t n = group ? (size_t)mst_group_size(group) : 1, self = group ? (size_t)mst_group_self(group) : 0;
    uint64_t *all = calloc(n * (size_t)weights.count + 1, sizeof *all);
    mst_status status = all ? MST_OK : MST_NO_MEMORY("to compare replicas");
    if (!status) status = hash_weights(trainer, &weights, step, all + self * (size_t)weights.count);
    if (!status && task) status = compare_workers(trainer, &weights, step, all);
    free(all);
    free(weights.node);
    return status;
}
