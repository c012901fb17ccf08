#include "layer/kernel_bias.h"

#include "layer/activation/activation.h"
#include "layer/initializer/initializer.h"
#include "muster/ops.h"

void mst_kernel_bias_weights(mst_layer_call *call, const mst_kernel_bias *weights) {
    const mst_dtype dtype = mst_value_spec(call->src[0]).dtype;
    mst_layer_weight(call, .name = "kernel", .shape = weights->kernel, .dtype = dtype,
                     .initializer = weights->kernel_initializer, .l1 = weights->l1, .l2 = weights->l2);
    if (!weights->no_bias)
        mst_layer_weight(call, .name = "bias", .shape = MST_SHAPE(weights->filters), .dtype = dtype,
                         .initializer = mst_initializer_or(weights->bias_initializer, mst_zeros_initializer()));
}

mst_value mst_kernel_bias_end(const mst_layer_call *call, mst_value y, bool no_bias, mst_activation activation) {
    return mst_activation_build(no_bias ? y : mst_add(y, call->weight[1]), activation);
}
