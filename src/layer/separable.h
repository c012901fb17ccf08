/** The weights of separable convolutions. A depthwise kernel filters each channel by itself. A pointwise kernel, whose
 *  window is one element, mixes the results of all channels. A bias is added. */
#ifndef MUSTER_LAYER_SEPARABLE_H
#define MUSTER_LAYER_SEPARABLE_H

#include "layer/type.h"
#include "muster/layers.h"

typedef struct mst_separable {
    mst_shape depthwise; /**< of the depthwise kernel: [window..., channels, depth_multiplier] */
    int64_t filters;
    bool no_bias;
    mst_initializer depthwise_initializer, pointwise_initializer;
    mst_initializer bias_initializer; /**< not given: zeros */
    float depthwise_l1, depthwise_l2, pointwise_l1, pointwise_l2;
    mst_constraint depthwise_constraint, pointwise_constraint, bias_constraint;
} mst_separable;

/** Declares these weights in the dtype of source 0. mst_kernel_bias_end adds the bias to the output. */
void mst_separable_weights(mst_layer_call *call, const mst_separable *weights);

#endif
