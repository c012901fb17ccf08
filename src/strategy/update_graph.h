/** The update of variables as a graph of its own, for parameter servers. */
#ifndef MUSTER_STRATEGY_UPDATE_GRAPH_H
#define MUSTER_STRATEGY_UPDATE_GRAPH_H

#include "muster/strategy.h"

/** The variables to update. */
typedef struct mst_update_graph_variables {
    const mst_value *variable; /**< [count], of another graph */
    int count;
    const bool *sparse;        /**< [count], as in mst_step_values; NULL: none has a sparse gradient */
    const mst_join_kind *join; /**< [count], as in mst_step_values; NULL: all are trained */
    const int64_t *rows;       /**< [count]: number of rows that this server keeps of a cut variable; -1 or NULL: all */
    /** [count]: the values of the variables, with which moving averages and masters begin. NULL, or a NULL entry: no
     *  such value; the new graph's initial value is then 0, and must not be used. */
    mst_tensor *const *value;
    int num_shards; /**< for variables that are not trained: number of values in the sum that is fed; 0: the change of
                     *   the variable is fed */
} mst_update_graph_variables;

/** Makes a graph with the variables of UPDATED, their slots, and global_step. Gradient I is fed to "gradient_I", and
 *  the node "train" makes the update. If UPDATED->sparse[I] is true, the rows of gradient I are fed to "gradient_I",
 *  and their numbers to "gradient_I_rows". Gradients, and the values for variables that are not trained, are fed in the
 *  form of mst_step_values, but summed over all shards. Variables and store entries have the names of the other graph.
 *  The collection MST_UPDATED has the variables, in the order of the gradients. *OUT belongs to the caller. */
MST_CHECKED mst_status mst_update_graph_create(const mst_optimizer *optimizer,
                                               const mst_update_graph_variables *updated, mst_graph **out);

#endif
