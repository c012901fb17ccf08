#include "layer/recurrent.h"

#include "layer/initializer/initializer.h"
#include "muster/ops.h"

mst_status mst_recurrent_weights(mst_layer_call *call, const char *const names[2], int64_t units, int64_t wide,
                                 const mst_recurrent_kernels *kernels) {
    const mst_dtype dtype = mst_value_spec(call->src[0]).dtype;
    int64_t features;
    MST_TRY(mst_layer_channels(call, "[n, steps, features]", 3, 3, &features));
    mst_layer_weight(call, .name = names[0], .shape = MST_SHAPE(features, wide), .dtype = dtype,
                     .initializer = kernels->kernel_initializer, .l1 = kernels->l1, .l2 = kernels->l2,
                     .constraint = kernels->kernel_constraint);
    mst_layer_weight(call, .name = names[1], .shape = MST_SHAPE(units, wide), .dtype = dtype,
                     .initializer = mst_initializer_or(kernels->recurrent_initializer, mst_orthogonal_initializer()),
                     .constraint = kernels->recurrent_constraint);
    return MST_OK;
}

mst_value mst_recurrent_mask(const mst_layer_call *call) {
    const mst_value mask = mst_layer_mask(call);
    return mst_value_is_none(mask) ? mask : mst_cast(mask, mst_value_spec(call->src[0]).dtype);
}

mst_value mst_recurrent_steps(mst_value h, bool return_sequences, bool go_backwards) {
    if (!return_sequences)
        return mst_strided_slice(h, .begin = MST_AXES(0, go_backwards ? 0 : -1), .end = MST_AXES(0, 0), .begin_mask = 1,
                                 .end_mask = 1, .shrink_mask = 2);
    return go_backwards ? mst_strided_slice(h, .strides = MST_AXES(1, -1)) : h;
}
