/** A strategy: where replicas run, and what they share. Each has a file of its own. */
#ifndef MUSTER_STRATEGY_TYPE_H
#define MUSTER_STRATEGY_TYPE_H

#include "muster/strategy.h"

typedef struct mst_strategy_type {
    const char *name;
    const char *scope;                                      /**< name scope of replica i: scope_i */
    bool mirrored;                                          /**< each device keeps a copy of the variables */
    int (*device)(const mst_strategy *strategy, int shard); /**< number of the device that runs SHARD */
} mst_strategy_type;

extern const mst_strategy_type mst_strategy_one, mst_strategy_towers, mst_strategy_mirrored;

/** The type of a resolved strategy. */
const mst_strategy_type *mst_strategy_type_of(const mst_strategy *strategy);
/** The number of the device that runs SHARD: shards in order, the same number on each device. */
int mst_strategy_spread(const mst_strategy *strategy, int shard);
/** The name of device I: as it was given or, where none were, made in TEXT. */
const char *mst_strategy_device_name(const mst_strategy *strategy, int i, char *text, size_t size);

#endif
