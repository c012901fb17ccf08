/** Strategies: where replicas run, and what they share. Replica i computes shard i of each batch.
 *
 *  Each strategy has a file of its own, which defines its mst_strategy_form. From these files the build makes the enum
 *  mst_strategy_kind (muster/strategies.h), mst_strategy_names (muster/strategy.h) and mst_strategy_table. */
#ifndef MUSTER_STRATEGY_STRATEGY_H
#define MUSTER_STRATEGY_STRATEGY_H

#include "base/shard_tree.h"
#include "muster/strategy.h"

enum { MST_SHARDS_MOST = 1 << 20 /**< the most shards of a step, and so the most gradients of a variable */ };

/** The properties of a strategy, except its name and number. */
typedef struct mst_strategy_form {
    const char *help;  /**< half a line for `muster train --help` */
    const char *scope; /**< prefix of the replicas' name scopes: replica i is built in "SCOPE_i" */
    bool mirrored;     /**< each device keeps a copy of the variables */
    bool apart;        /**< sums are over the shards of this task only, and parameter servers make the update */
    int (*device)(const mst_strategy *strategy, int shard); /**< number of the device that runs SHARD */
} mst_strategy_form;

/** All strategies, by mst_strategy_kind. */
extern const mst_strategy_form *const mst_strategy_table[];

/** The form of STRATEGY, after mst_strategy_resolve. */
const mst_strategy_form *mst_strategy_form_of(const mst_strategy *strategy);
/** The shards that are built in this process: all shards; in a cluster the shards of this task. */
mst_shards mst_strategy_window(const mst_strategy *strategy);
/** A `device` function: all shards on the first device. */
int mst_strategy_device_first(const mst_strategy *strategy, int shard);
/** A `device` function: divides the shards of this process evenly among the devices, consecutive shards together. */
int mst_strategy_device_spread(const mst_strategy *strategy, int shard);
/** Whether the first device is of a type that compiles; false if its type is not known in this process. The numbers
 *  that a step reports are then computed on the host (mst_with_host). */
bool mst_strategy_compiles(const mst_strategy *strategy);
/** The sum, over the shards of all tasks, of VALUES, which has one value for each shard that is built here. */
mst_value mst_strategy_sum(const mst_strategy *strategy, const mst_value *values);
/** The name of device I: the one that was given, or if none was given, a default name written to TEXT. */
const char *mst_strategy_device_name(const mst_strategy *strategy, int i, char *text, size_t size);

#endif
