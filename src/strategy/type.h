/** What makes one strategy: where replicas run, what they share, who updates. One file each. */
#ifndef MUSTER_STRATEGY_TYPE_H
#define MUSTER_STRATEGY_TYPE_H

#include "muster/strategy.h"

typedef struct mst_strategy_type {
    const char *name;
    const char *scope; /**< name scope of replica i: scope_i */
    bool mirrored;     /**< each device has a copy of the variables and updates a part of all copies */
    int (*device)(const mst_strategy *strategy, int shard);
} mst_strategy_type;

extern const mst_strategy_type mst_strategy_one, mst_strategy_towers, mst_strategy_mirrored;

/** The type of a resolved strategy. */
const mst_strategy_type *mst_strategy_type_of(const mst_strategy *strategy);
/** Shards in order, the same number on each device. */
int mst_strategy_spread(const mst_strategy *strategy, int shard);

#endif
