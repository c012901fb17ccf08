/** Options of the op apply_gradients, which strategies build. */
#ifndef MUSTER_OP_APPLY_GRADIENTS_H
#define MUSTER_OP_APPLY_GRADIENTS_H

#include "muster/optimizer.h"

/** What each variable adds to the loss: l1 * sum |w| + l2 / 2 * sum w^2. */
typedef struct mst_penalty {
    float l1, l2;
} mst_penalty;

typedef struct mst_apply_options {
    int zero_;
    const mst_optimizer *optimizer; /**< lives as long as the graph */
    const mst_penalty *penalty;     /**< one a variable; lives as long as the graph */
    bool penalty_is_in_gradient;    /**< the gradients given hold it already: only its value is computed */
    int32_t num_variables, num_copies, num_slots, num_shards;
    bool averages; /**< each variable has a moving average */
    int32_t part, num_parts;
} mst_apply_options;

/** Sources before those of the first variable: learning rate, global step, state of the rule. */
enum { MST_APPLY_LEARNING_RATE, MST_APPLY_STEP, MST_APPLY_STATE, MST_APPLY_FIRST };

/** Sources of variable V begin at this index: its copies, slots, moving average, gradients by shard. */
int mst_apply_source(const mst_apply_options *options, int v);

extern const mst_op mst_op_apply_gradients;

#endif
