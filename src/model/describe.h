/** The shapes and weights that a model would have. They come from a graph that is built only to inspect it. */
#ifndef MUSTER_MODEL_DESCRIBE_H
#define MUSTER_MODEL_DESCRIBE_H

#include "model/layer_order.h"

typedef struct mst_model_description {
    mst_graph *graph;
    mst_value *value;    /**< [num_nodes] the output of each node; MST_NONE: the node is not needed */
    int *num_variables;  /**< [num_nodes] number of variables in the graph after each node is built */
    mst_value *variable; /**< in the order in which they are made */
    bool *trainable;     /**< like variable */
    mst_model_order order;
} mst_model_description;

/** Describes MODEL. Free OUT with mst_model_forget, also after an error. If the shapes of inputs are not known, only
 *  the order is set, and the graph is NULL. */
MST_API MST_CHECKED mst_status mst_model_describe(mst_model *model, mst_model_description *out);
MST_API void mst_model_forget(mst_model_description *description);
/** The index of the first variable of NODE. The last one has the index num_variables[NODE] - 1. */
static inline int mst_model_first_variable(const mst_model_description *description, int64_t node) {
    return node > 0 ? description->num_variables[node - 1] : 0;
}

#endif
