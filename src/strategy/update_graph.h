/** The update of variables as a graph of its own, for tasks that do nothing else. */
#ifndef MUSTER_STRATEGY_UPDATE_GRAPH_H
#define MUSTER_STRATEGY_UPDATE_GRAPH_H

#include "muster/strategy.h"

/** A graph with the COUNT VARIABLES of another one, slots and global_step. Gradient I is fed to "gradient_I", and
 *  "train" makes the update. Where SPARSE[I] (NULL: of none), the rows of gradient I are fed to "gradient_I", their
 *  numbers to "gradient_I_rows", in the form of mst_step_values, but added up over all shards. Names are those of the
 *  other graph, so are the entries of the store. ROWS (NULL: all of each): how many rows variable I has here, where its
 *  rows are kept apart; -1: all. *OUT is the caller's. */
MST_CHECKED mst_status mst_update_graph_create(const mst_optimizer *optimizer, const mst_value *variables,
                                               const bool *sparse, const int64_t *rows, int count, mst_graph **out);

#endif
