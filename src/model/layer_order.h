/** The order of a model's layers in summaries and in lists of weights: Keras'. */
#ifndef MUSTER_MODEL_LAYER_ORDER_H
#define MUSTER_MODEL_LAYER_ORDER_H

#include "model/model.h"

/** Layers that the outputs need, and all inputs: those farthest from the outputs first; at one distance, as they are
 *  first met when the outputs are followed back to the inputs. */
typedef struct mst_model_order {
    int64_t *layer; /**< [num_layers] */
    int64_t num_layers;
    bool *has_node; /**< [nodes of the model] whether an output needs it, or it is an input */
    bool is_chain;  /**< no layer is used twice, has two sources, or is beside another: the summary prints it as
                         a chain, without the column "Connected to" */
} mst_model_order;

/** To be freed with mst_model_order_free, also after an error. */
MST_CHECKED mst_status mst_model_order_make(const mst_model *model, mst_model_order *out);
void mst_model_order_free(mst_model_order *order);

#endif
