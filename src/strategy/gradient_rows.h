/** Sparse gradients of tables such as embeddings, for an update in another task: only the rows that were looked up are
 *  sent. */
#ifndef MUSTER_STRATEGY_GRADIENT_ROWS_H
#define MUSTER_STRATEGY_GRADIENT_ROWS_H

#include "op/state/sparse_gradient.h"
#include "strategy/apply.h"

/** Whether the gradient of variable V of U, on all shards, is a gradient of gathered rows or a sum of such gradients.
 *  For the same gradients, an update in the same process works by rows too (plan/update_gradients.c). */
bool mst_has_gradient_rows(const mst_update *u, int v);
/** The rows of the gradient of variable V of U, summed over SHARDS. SHARDS is a node of the tree in the window of U. */
mst_row_values mst_sum_gradient_rows(const mst_update *u, int v, mst_shards shards);
/** A sparse gradient of VARIABLE that is fed. Makes two placeholders: "NAME" for the rows, and "NAME_rows" for their
 *  numbers. OPTIMIZER is checked, with its defaults. */
mst_value mst_given_gradient_rows(const mst_optimizer *optimizer, mst_value variable, const char *name);

#endif
