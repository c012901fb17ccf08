/** The weights of convolutions: a kernel, and a bias with one number per filter. */
#ifndef MUSTER_LAYER_KERNEL_BIAS_H
#define MUSTER_LAYER_KERNEL_BIAS_H

#include "layer/type.h"
#include "muster/layers.h"

typedef struct mst_kernel_bias {
    mst_shape kernel;
    int64_t filters;
    bool no_bias;
    mst_initializer kernel_initializer;
    mst_initializer bias_initializer; /**< not given: zeros */
    float l1, l2;                     /**< penalty of the kernel */
    mst_constraint kernel_constraint, bias_constraint;
} mst_kernel_bias;

/** An error unless CHANNELS of the source and FILTERS are multiples of GROUPS. */
MST_CHECKED mst_status mst_kernel_bias_groups(const mst_layer_call *call, int64_t channels, int64_t filters,
                                              int32_t groups);
/** Declares these weights, in the dtype of source 0. */
void mst_kernel_bias_weights(mst_layer_call *call, const mst_kernel_bias *weights);
/** activation(Y + bias), where bias is the last weight of the layer; activation(Y) if NO_BIAS. */
mst_value mst_kernel_bias_end(const mst_layer_call *call, mst_value y, bool no_bias, mst_activation activation);
#endif
