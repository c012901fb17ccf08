#include "layer/kernel_bias.h"

#include "layer/activation/activation.h"
#include "layer/initializer/initializer.h"
#include "muster/ops.h"

mst_status mst_kernel_bias_groups(const mst_layer_call *call, int64_t channels, int64_t filters, int32_t groups) {
    if (channels % groups == 0 && filters % groups == 0) return MST_OK;
    return MST_FAIL(MST_INVALID, "%s '%s': %lld channels and %lld filters are no multiples of %d groups",
                    call->type->name, call->name, (long long)channels, (long long)filters, (int)groups);
}

void mst_kernel_bias_weights(mst_layer_call *call, const mst_kernel_bias *weights) {
    const mst_dtype dtype = mst_value_spec(call->src[0]).dtype;
    mst_layer_weight(call, .name = "kernel", .shape = weights->kernel, .dtype = dtype,
                     .initializer = weights->kernel_initializer, .l1 = weights->l1, .l2 = weights->l2,
                     .constraint = weights->kernel_constraint);
    if (!weights->no_bias)
        mst_layer_weight(call, .name = "bias", .shape = MST_SHAPE(weights->filters), .dtype = dtype,
                         .initializer = mst_initializer_or(weights->bias_initializer, mst_zeros_initializer()),
                         .constraint = weights->bias_constraint);
}

mst_value mst_kernel_bias_end(const mst_layer_call *call, mst_value y, bool no_bias, mst_activation activation) {
    return mst_activation_build(no_bias ? y : mst_add(y, call->weight[call->num_weights - 1]), activation);
}
