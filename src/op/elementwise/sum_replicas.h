/** The op sum_replicas. */
#ifndef MUSTER_OP_SUM_REPLICAS_H
#define MUSTER_OP_SUM_REPLICAS_H

#include "muster/op.h"

typedef struct mst_sum_replicas_options {
    int zero_;
    int32_t num_shards;            /**< of all tasks */
    int32_t first_shard, num_here; /**< the window of this task */
    int32_t shard;                 /**< of the source */
    int64_t number;                /**< number of the sum: nodes of all shards with the same number are added up */
} mst_sum_replicas_options;

/** The sum of SRC over all shards of the step that a strategy is building. If there is no strategy or only one shard,
 *  it is SRC itself. All shards must call this for the same sums in the same order. */
mst_value mst_sum_replicas(mst_value src);

#endif
