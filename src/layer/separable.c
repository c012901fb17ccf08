#include "layer/separable.h"

#include "layer/initializer/initializer.h"

void mst_separable_weights(mst_layer_call *call, const mst_separable *weights) {
    const mst_dtype dtype = mst_value_spec(call->src[0]).dtype;
    const mst_shape *depthwise = &weights->depthwise;
    mst_shape pointwise = {.ndim = depthwise->ndim};
    for (int i = 0; i < pointwise.ndim; i++) pointwise.dim[i] = 1;
    pointwise.dim[pointwise.ndim - 2] = depthwise->dim[pointwise.ndim - 2] * depthwise->dim[pointwise.ndim - 1];
    pointwise.dim[pointwise.ndim - 1] = weights->filters;
    mst_layer_weight(call, .name = "depthwise_kernel", .shape = *depthwise, .dtype = dtype,
                     .initializer = weights->depthwise_initializer, .l1 = weights->depthwise_l1,
                     .l2 = weights->depthwise_l2, .constraint = weights->depthwise_constraint);
    mst_layer_weight(call, .name = "pointwise_kernel", .shape = pointwise, .dtype = dtype,
                     .initializer = weights->pointwise_initializer, .l1 = weights->pointwise_l1,
                     .l2 = weights->pointwise_l2, .constraint = weights->pointwise_constraint);
    if (!weights->no_bias)
        mst_layer_weight(call, .name = "bias", .shape = MST_SHAPE(weights->filters), .dtype = dtype,
                         .initializer = mst_initializer_or(weights->bias_initializer, mst_zeros_initializer()),
                         .constraint = weights->bias_constraint);
}
