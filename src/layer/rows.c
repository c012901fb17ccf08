#include "layer/rows.h"

#include "muster/ops.h"

mst_status mst_row_features(const mst_layer_call *call, int64_t *features) {
    const mst_shape shape = mst_value_spec(call->src[0]).shape;
    const char *layer = call->type->name;
    if (shape.ndim < 2)
        return MST_FAIL(MST_INVALID, "%s '%s': needs [n, ...], got %d dimension%s", layer, call->name, shape.ndim,
                        shape.ndim == 1 ? "" : "s");
    *features = 1;
    for (int i = 1; i < shape.ndim; i++) {
        if (shape.dim[i] < 0)
            return MST_FAIL(MST_INVALID, "%s '%s': only the first dimension of '%s' may be open", layer, call->name,
                            mst_value_name(call->src[0]));
        if (__builtin_mul_overflow(*features, shape.dim[i], features))
            return MST_FAIL(MST_INVALID, "%s '%s': '%s' has too many elements", layer, call->name,
                            mst_value_name(call->src[0]));
    }
    if (*features < 1) return MST_FAIL(MST_INVALID, "%s '%s': no features to compute with", layer, call->name);
    return MST_OK;
}

mst_value mst_as_rows(mst_value x, int64_t features) {
    return mst_value_spec(x).shape.ndim == 2 ? x : mst_reshape(x, MST_SHAPE(-1, features));
}
