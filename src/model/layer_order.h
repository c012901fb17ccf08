/** The order of a model's layers in summaries and in lists of weights, which is the order of Keras. */
#ifndef MUSTER_MODEL_LAYER_ORDER_H
#define MUSTER_MODEL_LAYER_ORDER_H

#include "model/model.h"

/** The layers that the outputs need, and all inputs. Those farthest from the outputs come first. Layers at the same
 *  distance are in the order of a search from the outputs back to the inputs. */
typedef struct mst_model_order {
    int64_t *layer; /**< [num_layers] */
    int64_t num_layers;
    bool *has_node; /**< [nodes of the model] whether an output needs the node, or it is an input */
    /** Each layer is used once, has at most one source, and is the only one at its distance from the outputs. The
     *  summary then has no column "Connected to". */
    bool is_chain;
} mst_model_order;

/** Makes the order of MODEL's layers. Free OUT with mst_model_order_free, also after an error. */
MST_CHECKED mst_status mst_model_order_make(const mst_model *model, mst_model_order *out);
void mst_model_order_free(mst_model_order *order);

#endif
