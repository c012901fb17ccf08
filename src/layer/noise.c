#include "layer/noise.h"

#include "muster/ops.h"

mst_status mst_noise_check(const mst_shape *noise_shape, const char *type, const char *name) {
    for (int i = 0; i < noise_shape->ndim; i++)
        if (noise_shape->dim[i] < 1 && noise_shape->dim[i] != -1)
            return MST_FAIL(MST_INVALID, "%s '%s': noise_shape has a dimension of %lld, can have -1 and numbers from 1",
                            type, name, (long long)noise_shape->dim[i]);
    return MST_OK;
}

mst_value mst_noise_like(const mst_layer_call *call, const mst_shape *noise_shape) {
    const mst_value src = call->src[0];
    const mst_shape shape = mst_value_spec(src).shape;
    mst_axes begin = {.count = shape.ndim}, end = {.count = shape.ndim};
    int whole = 0;
    if (noise_shape->ndim == 0) return src;
    if (noise_shape->ndim != shape.ndim)
        return mst_value_fail(call->graph, MST_INVALID,
                              "%s '%s': noise_shape has %d dimensions, must have %d as its source", call->type->name,
                              call->name, noise_shape->ndim, shape.ndim);
    for (int i = 0; i < shape.ndim; i++) {
        const int64_t dim = noise_shape->dim[i];
        if (dim > 1 && shape.dim[i] >= 0 && dim != shape.dim[i])
            return mst_value_fail(call->graph, MST_INVALID,
                                  "%s '%s': dimension %d of noise_shape is %lld, must be 1 or %lld as in its source",
                                  call->type->name, call->name, i, (long long)dim, (long long)shape.dim[i]);
        end.axis[i] = 1;
        if (dim != 1) whole |= 1 << i;
    }
    return mst_strided_slice(src, .begin = begin, .end = end, .begin_mask = whole, .end_mask = whole);
}

mst_value mst_noise_mask(const mst_layer_call *call, float rate, uint64_t seed, const mst_shape *noise_shape) {
    const mst_value ones = mst_ones_like(mst_noise_like(call, noise_shape));
    return mst_dropout_with((mst_dropout_options){.src = ones, .rate = rate, .seed = seed});
}

mst_value mst_noise_channels(const mst_layer_call *call, float rate, uint64_t seed, int ndim, const char *form) {
    mst_shape noise_shape = {.ndim = ndim};
    if (mst_layer_want_ndim(call, ndim, form)) return mst_layer_fail(call);
    if (!call->training) return call->src[0];
    for (int i = 0; i < ndim; i++) noise_shape.dim[i] = i == 0 || i == ndim - 1 ? -1 : 1;
    return mst_mul(call->src[0], mst_noise_mask(call, rate, seed, &noise_shape));
}
