/** Strategies: one training step over several devices.
 *
 *  A step is cut into shards, each a replica of the model on its part of the global batch. A strategy says on which
 *  device each replica runs, whether replicas share variables, and where the update is made:
 *
 *      one       all shards on the first device
 *      towers    replicas under tower_0/, tower_1/, ... over the devices; variables and the update on the first
 *      mirrored  replicas under replica_0/, ...; each device has a copy of the variables and updates its part of all
 *                copies from the gradients of all shards, added in a fixed order
 *
 *  The gradient is that of (sum of the losses of all examples) / (number of examples of the global batch), whatever the
 *  shards' sizes, and gradients of shards are added in one fixed tree: the same seed, global batch and number of shards
 *  gives the same weights, bit for bit, under each strategy, for every number of devices that divides the shards (with
 *  one thread a device).
 */
#ifndef MUSTER_STRATEGY_H
#define MUSTER_STRATEGY_H

#include "muster/optimizer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mst_strategy_kind {
    MST_STRATEGY_DEFAULT = 0, /**< mirrored over several devices, one on one */
    MST_STRATEGY_ONE,
    MST_STRATEGY_TOWERS,
    MST_STRATEGY_MIRRORED
} mst_strategy_kind;

typedef struct mst_strategy {
    int zero_;
    mst_strategy_kind kind;
    int num_devices; /**< CPU:0 to CPU:(num_devices - 1); default 1 */
    int num_shards;  /**< a multiple of num_devices (one: any); default num_devices */
} mst_strategy;

/** Fills in defaults; MST_INVALID where the shards do not divide evenly over the devices. */
MST_API MST_CHECKED mst_status mst_strategy_resolve(mst_strategy *strategy);
/** The device of a shard, "/device:CPU:1". */
MST_API const char *mst_strategy_device(const mst_strategy *strategy, int shard, char *text, int size);

#define MST_MAX_METRICS 8

/** What a replica function builds. */
typedef struct mst_replica {
    mst_value loss; /**< loss of each example, [n], f32 or f64 */
    int num_metrics;
    mst_value metric_sum[MST_MAX_METRICS], metric_count[MST_MAX_METRICS]; /**< scalars */
} mst_replica;

/** Builds the graph of one shard, in the scopes that the strategy opened: its placeholders, the model, the losses.
 *  Variables come from mst_get_variable, which returns the copy of the replica's device. */
typedef void (*mst_replica_function)(void *context, mst_graph *graph, int shard, mst_replica *out);

/** A step over all shards. Values are scalars on the first device. */
typedef struct mst_step_values {
    mst_value train;         /**< run it to make one update; MST_NONE without an optimizer */
    mst_value loss;          /**< (sum of losses) / (number of examples) + penalties */
    mst_value num_examples;  /**< f32 */
    mst_value global_step;   /**< i64 variable, number of updates made */
    mst_value learning_rate; /**< f32; a variable where the optimizer has no schedule */
    int num_metrics;
    mst_value metric_sum[MST_MAX_METRICS], metric_count[MST_MAX_METRICS]; /**< over all shards */
} mst_step_values;

/** Builds the step of all shards, with the update where OPTIMIZER is given (copied). Errors are on the graph. */
MST_API void mst_strategy_build(mst_graph *graph, const mst_strategy *strategy, const mst_optimizer *optimizer,
                                mst_replica_function replica, void *context, mst_step_values *out);

/** The same for a graph of your own: adds to GRAPH one update of VARIABLES (NULL: all trainable ones) down the gradient
 *  of the scalar LOSS, plus their penalties, and increments GLOBAL_STEP (an i64 variable, or MST_NONE for the graph's
 *  own). Returns the train op. */
MST_API mst_value mst_minimize(const mst_optimizer *optimizer, mst_value loss, const mst_value *variables,
                               int num_variables, mst_value global_step);
/** The same from gradients (MST_NONE entries are left out), for what comes between: averaging over towers, clipping. */
MST_API mst_value mst_apply_gradients(const mst_optimizer *optimizer, const mst_value *gradients,
                                      const mst_value *variables, int num_variables, mst_value global_step);
/** The moving average of a variable that an optimizer with ema_decay keeps, MST_NONE where there is none. */
MST_API mst_value mst_moving_average(mst_value variable);
/** The graph's own i64 variable "global_step", made on first use. */
MST_API mst_value mst_global_step(mst_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
