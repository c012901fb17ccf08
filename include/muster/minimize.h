/** Minimizing: the update of variables down a gradient, in a graph of your own.
 *
 *      mst_optimizer adam = mst_adam(.learning_rate = 0.001);
 *      mst_value train = mst_minimize(&adam, loss, NULL, 0, MST_NONE);
 *
 *  Each run of `train` is one step. mst_gradients and mst_apply_gradients are its two halves.
 */
#ifndef MUSTER_MINIMIZE_H
#define MUSTER_MINIMIZE_H

#include "muster/graph.h"
#include "muster/optimizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Adds one update of VARIABLES (NULL: all trainable ones of the graph) down the gradient of the scalar LOSS plus their
 *  penalties, and increments GLOBAL_STEP (an i64 variable, or MST_NONE for the graph's own). Returns the train op.
 *  Variables in bf16 are updated in f32: the value before rounding is kept as "<variable>/master" beside the slots,
 *  which are f32 too; what is assigned to such a variable is its new master. */
MST_API mst_value mst_minimize(const mst_optimizer *optimizer, mst_value loss, const mst_value *variables,
                               int num_variables, mst_value global_step);
/** The same from GRADIENTS, one for each of VARIABLES (MST_NONE: that variable stays), for what comes between:
 *  averaging over towers, clipping. */
MST_API mst_value mst_apply_gradients(const mst_optimizer *optimizer, const mst_value *gradients,
                                      const mst_value *variables, int num_variables, mst_value global_step);
/** Gives the variables of the collection MST_UPDATES, such as the moving statistics of batch_normalization, their next
 *  values, all pairs that were added until now; for a graph of your own, to be run with the train op. Strategies do it
 *  by themselves. */
MST_API mst_value mst_state_updates(mst_graph *graph);
/** The moving average of a variable that an optimizer with ema_decay keeps, MST_NONE if there is none. */
MST_API mst_value mst_moving_average(mst_value variable);
/** The graph's own i64 variable "global_step", made on first use. */
MST_API mst_value mst_global_step(mst_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
