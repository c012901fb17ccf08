/** What a model would build: shapes and weights, from a graph made for looking only. */
#ifndef MUSTER_MODEL_DESCRIBE_H
#define MUSTER_MODEL_DESCRIBE_H

#include "model/layer_order.h"

typedef struct mst_model_description {
    mst_graph *graph;
    mst_value *value;    /**< [num_nodes] what each node gives; MST_NONE where it is not needed */
    int *num_variables;  /**< [num_nodes] variables of the graph after each node */
    mst_value *variable; /**< in the order in which they are made */
    bool *trainable;     /**< like variable */
    mst_model_order order;
} mst_model_description;

/** To be freed with mst_model_forget, also after an error. Where the shapes of inputs are not known there is only the
 *  order: the graph is NULL. */
MST_API MST_CHECKED mst_status mst_model_describe(mst_model *model, mst_model_description *out);
MST_API void mst_model_forget(mst_model_description *description);
/** The first of NODE's variables; the last is before num_variables[NODE]. */
static inline int mst_model_first_variable(const mst_model_description *description, int64_t node) {
    return node > 0 ? description->num_variables[node - 1] : 0;
}

#endif
