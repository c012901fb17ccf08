/** Building the update of variables: slots, moving averages, and the apply_gradients nodes of all parts. */
#ifndef MUSTER_STRATEGY_APPLY_H
#define MUSTER_STRATEGY_APPLY_H

#include "muster/strategy.h"

/** What to update from what. */
typedef struct mst_update {
    mst_graph *graph;
    const mst_optimizer *optimizer;            /**< in the graph's arena */
    int num_variables, num_shards, num_copies; /**< as many parts as copies */
    const mst_value *variables;                /**< [num_variables], the variables themselves */
    const mst_value *gradients;                /**< [num_shards][num_variables] */
    mst_value global_step;
} mst_update;

typedef struct mst_update_values {
    mst_value train;         /**< everything is updated, and the step counted */
    mst_value penalty;       /**< scalar, of the weights before; MST_NONE where no variable has one */
    mst_value learning_rate; /**< f32 scalar */
} mst_update_values;

void mst_build_update(const mst_update *update, mst_update_values *out);
/** A copy of OPTIMIZER in the arena of the graph, checked; NULL and the error on the graph where it is not right. */
const mst_optimizer *mst_keep_optimizer(mst_graph *graph, const mst_optimizer *optimizer);
/** Copy number I of a variable: itself for 0, else that of mirrored device I. */
mst_value mst_mirror(mst_value variable, int i);

#endif
