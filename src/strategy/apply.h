/** Building the update of variables: slots, moving averages, and the apply_gradients node. */
#ifndef MUSTER_STRATEGY_APPLY_H
#define MUSTER_STRATEGY_APPLY_H

#include "base/shard_tree.h"
#include "muster/strategy.h"

/** What to update from what. */
typedef struct mst_update {
    mst_graph *graph;
    const mst_optimizer *optimizer; /**< checked, with its defaults */
    int num_variables, num_shards;
    mst_shards window;          /**< whose gradients these are: in a cluster those of this task; default: all shards */
    const mst_value *variables; /**< [num_variables] */
    const mst_value *gradients; /**< [window.count][num_variables] */
    mst_value global_step;
    int num_parts, part; /**< sharded state (op/state/state_parts.h): only slots of this part; 0: of all */
} mst_update;

typedef struct mst_update_values {
    mst_value train;         /**< everything is updated, and the step counted */
    mst_value penalty;       /**< scalar, of the weights before; MST_NONE where no variable has one */
    mst_value learning_rate; /**< f32 scalar */
} mst_update_values;

void mst_build_update(const mst_update *update, mst_update_values *out);
/** OPTIMIZER with its defaults in *OUT, checked; false and the error on the graph where it is not right. */
bool mst_resolve_optimizer(mst_graph *graph, const mst_optimizer *optimizer, mst_optimizer *out);

#endif
