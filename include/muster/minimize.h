/** Minimizing: updates of variables against their gradients, in a graph of your own.
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

/** Adds one update of VARIABLES (NULL: all trainable ones of the graph). It reduces the scalar LOSS plus the penalties
 *  of the variables, and increments GLOBAL_STEP (an i64 variable, or MST_NONE for the graph's own). Returns the train
 *  op. bf16 variables are updated in f32: the value before rounding is kept as "<variable>/master" beside the slots,
 *  which are f32 too. A value assigned to such a variable also becomes its master. */
MST_API mst_value mst_minimize(const mst_optimizer *optimizer, mst_value loss, const mst_value *variables,
                               int num_variables, mst_value global_step);
/** As mst_minimize, from GRADIENTS, one for each of VARIABLES (MST_NONE: that variable is not updated). They may have
 *  been changed before, for example averaged over towers, or clipped. */
MST_API mst_value mst_apply_gradients(const mst_optimizer *optimizer, const mst_value *gradients,
                                      const mst_value *variables, int num_variables, mst_value global_step);
/** An op that sets the variables of the collection MST_UPDATES, such as the moving statistics of batch_normalization,
 *  to their next values. It covers all pairs that were added until now. In a graph of your own, run it together with
 *  the train op; strategies do this themselves. */
MST_API mst_value mst_state_updates(mst_graph *graph);
/** The moving average of a variable, kept by an optimizer with ema_decay; MST_NONE if there is none. */
MST_API mst_value mst_moving_average(mst_value variable);
/** The graph's own i64 variable "global_step", made on first use. */
MST_API mst_value mst_global_step(mst_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
