/** Strategies: one training step over several devices.
 *
 *  A step is cut into shards, each a replica of the model on its part of the global batch. A strategy says on which
 *  device each replica runs, whether replicas share variables, and where the update is made:
 *
 *      one       all shards on the first device
 *      towers    replicas over the devices, which share the variables of the first
 *      mirrored  replicas over the devices; each device keeps a copy of the variables
 *
 *  All of them are in muster/strategies.h (the enum mst_strategy_kind).
 *
 *  In the graph a variable is one node under every strategy; how it is kept is an option of the node.
 *
 *  The gradient is that of (sum of the losses of all examples) / (number of examples of the global batch), whatever the
 *  sizes of the shards. Gradients of shards are added in one fixed tree. On one type of CPU the same seed, global batch
 *  and number of shards therefore give the same weights, bit for bit. This holds for any strategy, any number of
 *  threads per device, and any number of devices, which must divide the number of shards.
 */
#ifndef MUSTER_STRATEGY_H
#define MUSTER_STRATEGY_H

#include "muster/minimize.h"
#include "muster/ops.h"
#include "muster/strategies.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Which number of shards a resumed fit uses, if it was begun with a number that differs from the strategy's. */
typedef enum mst_resumed_shards {
    MST_SHARDS_DEFAULT = 0, /**< MST_SHARDS_KEPT if num_shards is 0, else MST_SHARDS_NEW */
    MST_SHARDS_KEPT,        /**< the number with which it was begun: the weights are those of an uninterrupted fit */
    MST_SHARDS_NEW,         /**< the strategy's number, with a warning: the last digits of weights differ */
    MST_SHARDS_SAME,        /**< neither: it is an error (MST_INVALID) if the numbers differ */
} mst_resumed_shards;

typedef struct mst_strategy {
    int zero_;
    mst_strategy_kind kind;
    int num_devices; /**< default 1 */
    /** Shards of all tasks together: a multiple of num_devices, except for the strategy "one". Default num_devices; in
     *  a cluster, the devices of all workers. */
    int num_shards;
    mst_resumed_shards resumed_shards; /**< for mst_fit */
    /** In a cluster: this task computes NUM_SHARDS_HERE shards, from FIRST_SHARD on, of the num_shards of all tasks.
     *  NUM_SHARDS_HERE must then be a multiple of num_devices. Default: all. */
    int first_shard, num_shards_here;
    /** For multi-worker: each worker keeps only the optimizer's slots of its part of the parameters (ZeRO stage 1). It
     *  adds up the gradients of this part, makes the new values and sends them to all. The weights are, bit for bit,
     *  the same as without it. Needs at least two workers; the devices of each must share one memory. Not for sparse
     *  gradients. */
    bool sharded_state;
    /** With sharded_state: this task keeps part PART, from 0, of NUM_PARTS parts. mst_compile sets both. */
    int num_parts, part;
    /** For parameter-server: each update uses the gradients of all workers. Default: each uses those of one worker. */
    bool synchronous;
    /** For parameter-server, synchronous: an update is made from the first gradients that arrive, from this number of
     *  workers, and is divided by that number. Gradients that arrive later are dropped. Workers beyond this number are
     *  backup workers. Default: all workers. */
    int replicas_to_aggregate;
    /** For parameter-server, not synchronous: the most updates between the time at which a worker gets variables and
     *  the time at which its gradients are applied. At least the number of workers - 1. Default: any number. */
    int max_staleness;
    /** For parameter-server: each variable goes to the server that has the fewest bytes so far, in the order in which
     *  variables were made. Default: the servers take turns. */
    bool by_bytes;
    /** For parameter-server with several servers: variables of at least this size in bytes are cut along the first
     *  axis. Each server then keeps consecutive rows of it. A variable with fewer rows than there are servers stays
     *  whole. Not with clip_norm. Default: every variable stays whole. */
    int64_t part_bytes;
    /** Names of the devices, "/device:CPU:0", as mst_session_device gives them; must exist while graphs are built with
     *  it. NULL: CPU:0 to CPU:(num_devices - 1). */
    const char *const *devices;
} mst_strategy;

/** "auto", "one", ..., by mst_strategy_kind; ended by NULL. */
MST_API extern const char *const mst_strategy_names[];
/** What the I-th strategy does, in half a line; NULL past the last. */
MST_API const char *mst_strategy_help(int i);

/** Fills in defaults. MST_INVALID if the kind does not exist, if the shards do not divide evenly over the devices, or
 *  if variables would be mirrored over GPUs or TPUs and devices of another type, which round differently. */
MST_API MST_CHECKED mst_status mst_strategy_resolve(mst_strategy *strategy);
/** The device of a shard, "/device:CPU:1". */
MST_API const char *mst_strategy_device(const mst_strategy *strategy, int shard, char *text, int size);

#define MST_MAX_METRICS 32
enum { MST_MAX_COUNTED_LOSSES = 16 };

/** A new value for a variable that is not trained, such as a moving statistic. Each replica gives one. */
typedef struct mst_state_update {
    mst_value variable, value;
    mst_join_kind join; /**< how the values of all replicas become one; default: as the variable says */
} mst_state_update;

/** A loss that only some examples, or parts of examples, have, such as with ignore_class. */
typedef struct mst_counted_loss {
    mst_value loss;    /**< of each example, [n], f32 or f64: 0 for what does not count */
    mst_value counted; /**< which part of each example counts, [n], 0 to 1, of the same dtype */
} mst_counted_loss;

/** What a replica function builds. */
typedef struct mst_replica {
    mst_value loss; /**< loss of each example, [n], f32 or f64 */
    /** Losses that are added to `loss`. The sum of each over the global batch is divided by the sum of its `counted`
     *  over the global batch, in place of the number of examples. Not with synchronous parameter servers. */
    int num_counted;
    mst_counted_loss counted[MST_MAX_COUNTED_LOSSES];
    int num_metrics;
    mst_value metric_sum[MST_MAX_METRICS], metric_count[MST_MAX_METRICS]; /**< f64, scalars or [n] */
    int num_updates;
    mst_state_update *updates; /**< added by mst_replica_update */
} mst_replica;

/** Adds an update of VARIABLE to a replica. Every replica must update the same variables in the same order. When the
 *  step trains, the values of all replicas are joined by JOIN: the variable becomes their mean, their sum, or the value
 *  of the first replica, or it increases by their sum. Sums are made in the fixed tree over the shards. */
MST_API void mst_replica_update(mst_replica *replica, mst_value variable, mst_value value, mst_join_kind join);

/** Builds the graph of one shard, in the scopes that the strategy opened: its placeholders, the model, the losses.
 *  Variables come from mst_get_variable: the first replica makes them, the others share them. */
typedef void (*mst_replica_function)(void *context, mst_graph *graph, int shard, mst_replica *out);

/** The values of a step over all shards. They are scalars on the first device, or on the CPU of its task if devices of
 *  that type compile what they run (accelerators). */
typedef struct mst_step_values {
    mst_value train;         /**< running it makes one update of variables and statistics; MST_NONE: no optimizer */
    mst_value loss;          /**< loss_sum / num_examples */
    mst_value loss_sum;      /**< f64: sum of the losses of all examples, each with the penalties */
    mst_value num_examples;  /**< f32 */
    mst_value global_step;   /**< i64 variable, number of updates made */
    mst_value learning_rate; /**< f32; a variable if the optimizer has no schedule */
    int num_metrics;
    mst_value metric_sum[MST_MAX_METRICS], metric_count[MST_MAX_METRICS]; /**< over all shards */
    /** The members from here on are for parameter-server, whose servers make the update. A leaf is a sum over the
     *  shards below one node of the tree of sums. Without .synchronous there is one leaf, over all shards of this task.
     *  The arrays belong to the graph. */
    int num_variables, num_leaves;
    const mst_value *variable; /**< [num_variables]: trained variables, then those that replicas update */
    const bool *sparse;        /**< [num_variables]: the gradients have only some rows, from mst_gather */
    /** [num_variables]: MST_JOIN_DEFAULT if the variable is trained. Otherwise it is updated by replicas, and a leaf
     *  has, in place of the gradient, the sum of the values of its shards. Without .synchronous it has the joined value
     *  minus the old value. With MST_JOIN_ADD it has the sum by which the variable increases. */
    const mst_join_kind *join;
    int num_gradients;
    /** [num_gradients]: the gradients of all variables for leaf 0, then for leaf 1, and so on. A sparse variable has
     *  two values here: the rows, [n, columns], and an i64 [1 + n] with the number of rows in use and then their
     *  indices, ascending. Rows and indices beyond this number are undefined. If the optimizer uses sums of squares
     *  (MST_SPARSE_KERAS), the rows are [n, 2 * columns]. The second half of each row has the sums of the squares. */
    const mst_value *gradient;
    mst_value divisor; /**< by which the gradients were divided: num_examples, or a value fed instead */
    /** [num_leaves][2 * num_metrics + 2], f64. For each leaf: metric_sum and metric_count of each metric, loss_sum, and
     *  the number of examples. */
    const mst_value *reported;
} mst_step_values;

/** Builds the step of all shards; with the update if OPTIMIZER (copied) is not NULL. Errors are kept on the graph. */
MST_API void mst_strategy_build(mst_graph *graph, const mst_strategy *strategy, const mst_optimizer *optimizer,
                                mst_replica_function replica, void *context, mst_step_values *out);

#ifdef __cplusplus
}
#endif
#endif
