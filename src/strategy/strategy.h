/** A strategy: where replicas run, and what they share. Each has a file of its own; the build makes of these files the
 *  enum mst_strategy_kind (muster/strategies.h), mst_strategy_names and the table below. */
#ifndef MUSTER_STRATEGY_STRATEGY_H
#define MUSTER_STRATEGY_STRATEGY_H

#include "muster/strategy.h"

typedef struct mst_strategy_form {
    const char *help;                                       /**< half a line for `muster train --help` */
    const char *scope;                                      /**< name scope of replica i: scope_i */
    bool mirrored;                                          /**< each device keeps a copy of the variables */
    int (*device)(const mst_strategy *strategy, int shard); /**< number of the device that runs SHARD */
} mst_strategy_form;

/** All strategies, by mst_strategy_kind. */
extern const mst_strategy_form *const mst_strategy_table[];

/** The form of a resolved strategy. */
const mst_strategy_form *mst_strategy_form_of(const mst_strategy *strategy);
/** `device` of strategies that run all shards on the first device. */
int mst_strategy_first(const mst_strategy *strategy, int shard);
/** The number of the device that runs SHARD: shards in order, the same number on each device. */
int mst_strategy_spread(const mst_strategy *strategy, int shard);
/** The name of device I: as it was given or, where none were, made in TEXT. */
const char *mst_strategy_device_name(const mst_strategy *strategy, int i, char *text, size_t size);

#endif
