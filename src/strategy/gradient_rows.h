/** Sparse gradients, of tables that are looked up, which another task applies: only their rows travel. */
#ifndef MUSTER_STRATEGY_GRADIENT_ROWS_H
#define MUSTER_STRATEGY_GRADIENT_ROWS_H

#include "op/state/sparse_gradient.h"
#include "strategy/apply.h"

/** Whether the gradients of variable V of U are those of gathers of rows, or sums of such, on all shards: then one
 *  process updates by their rows too (plan/update_gradients.c). */
bool mst_has_gradient_rows(const mst_update *u, int v);
/** The rows of the sum of the gradients of variable V of U over SHARDS, a node of the tree within its window. */
mst_row_values mst_sum_gradient_rows(const mst_update *u, int v, mst_shards shards);
/** The gradient of VARIABLE that these rows are: fed to two new placeholders, "NAME" for the rows and "NAME_rows" for
 *  their numbers. OPTIMIZER is checked, with its defaults. */
mst_value mst_given_gradient_rows(const mst_optimizer *optimizer, mst_value variable, const char *name);

#endif
