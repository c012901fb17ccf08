/** What a model would build: shapes and weights, from a graph made for looking only. */
#ifndef MUSTER_MODEL_DESCRIBE_H
#define MUSTER_MODEL_DESCRIBE_H

#include "model/model.h"

typedef struct mst_model_description {
    mst_graph *graph;
    mst_value *value;    /**< [num_nodes] what each node gives; MST_NONE where it is not needed */
    int *num_variables;  /**< [num_nodes] variables of the graph after each node */
    mst_value *variable; /**< in the order in which they are made */
    bool *trainable;     /**< like variable */
} mst_model_description;

/** Whether the shapes of all inputs are known. */
bool mst_model_is_known(const mst_model *model);
/** To be freed with mst_model_forget, also after an error; MST_INVALID where the shapes of inputs are not known. */
MST_CHECKED mst_status mst_model_describe(mst_model *model, mst_model_description *out);
void mst_model_forget(mst_model_description *description);

#endif
