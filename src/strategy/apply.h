/** Building the update of variables: slots, moving averages, and the apply_gradients node. */
#ifndef MUSTER_STRATEGY_APPLY_H
#define MUSTER_STRATEGY_APPLY_H

#include "base/shard_tree.h"
#include "muster/strategy.h"

/** The variables to update, and their gradients. */
typedef struct mst_update {
    mst_graph *graph;
    const mst_optimizer *optimizer; /**< checked, with its defaults */
    int num_variables, num_shards;
    mst_shards window;          /**< shards of the gradients: those of this task in a cluster, else all */
    const mst_value *variables; /**< [num_variables] */
    const mst_value *gradients; /**< [window.count][num_variables] */
    mst_value global_step;
    bool numbers_on_host; /**< the learning rate is computed on the CPU (mst_with_host) */
    int num_parts, part;  /**< sharded state (op/state/state_parts.h): makes only part `part` of the slots; num_parts is
                               0: makes whole slots */
} mst_update;

typedef struct mst_update_values {
    mst_value train;         /**< node that makes the whole update, and counts the step */
    mst_value penalty;       /**< scalar, of the weights before the update; MST_NONE: no variable has one */
    mst_value learning_rate; /**< f32 scalar */
} mst_update_values;

void mst_build_update(const mst_update *update, mst_update_values *out);
/** Checks OPTIMIZER, and writes it to *OUT with its defaults. If it is not valid, sets an error on GRAPH and returns
 *  false. */
bool mst_resolve_optimizer(mst_graph *graph, const mst_optimizer *optimizer, mst_optimizer *out);

#endif
