/** Options of the op sum_shards, which strategies build. */
#ifndef MUSTER_OP_SUM_SHARDS_H
#define MUSTER_OP_SUM_SHARDS_H

#include "base/shard_tree.h"
#include "muster/op.h"

/** When a sum over the shards is computed. All sums of one round are exchanged together. */
typedef enum mst_sum_round {
    MST_SUM_EARLY, /**< before the backward pass, which needs these sums */
    MST_SUM_LATE,
    MST_NUM_SUM_ROUNDS
} mst_sum_round;

typedef struct mst_sum_shards_options {
    int zero_;
    int32_t num_shards;            /**< of all tasks */
    int32_t first_shard, num_here; /**< the window of this task */
    int32_t round;                 /**< mst_sum_round */
} mst_sum_shards_options;

/** The sum of all VALUES over the shards of all tasks; VALUES[i] is of shard first + i of WINDOW. The values of each
 *  leaf of the window (collective/group.h) are added up first. */
mst_value mst_sum_shards(const mst_value *values, mst_shards window, int32_t num_shards, mst_sum_round round);

#endif
