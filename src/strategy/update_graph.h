/** The update of variables as a graph of its own, for tasks that do nothing else. */
#ifndef MUSTER_STRATEGY_UPDATE_GRAPH_H
#define MUSTER_STRATEGY_UPDATE_GRAPH_H

#include "muster/strategy.h"

/** What is updated. */
typedef struct mst_update_graph_variables {
    const mst_value *variable; /**< [count] of another graph */
    int count;
    const bool *sparse;        /**< [count], as in mst_step_values; NULL: none has a sparse gradient */
    const mst_join_kind *join; /**< [count], as in mst_step_values; NULL: all are trained */
    const int64_t *rows;       /**< [count] how many rows each has here, where rows are kept apart; -1, or NULL: all */
    /** [count] the values of the variables, with which moving averages and masters begin. NULL, or a NULL entry: the
     *  initial values of this graph are not used. */
    mst_tensor *const *value;
    int num_shards; /**< whose proposals are added up where a variable is not trained; 0: their changes come */
} mst_update_graph_variables;

/** A graph with the variables of UPDATED, slots and global_step. Gradient I is fed to "gradient_I", and "train" makes
 *  the update. Where SPARSE[I], the rows of gradient I are fed to "gradient_I", their numbers to "gradient_I_rows", in
 *  the form of mst_step_values, but added up over all shards; so is what is fed for a variable that is not trained.
 *  Names are those of the other graph, so are the entries of the store. The variables are the
 *  collection MST_UPDATED, in the order of the gradients. *OUT is the caller's. */
MST_CHECKED mst_status mst_update_graph_create(const mst_optimizer *optimizer,
                                               const mst_update_graph_variables *updated, mst_graph **out);

#endif
