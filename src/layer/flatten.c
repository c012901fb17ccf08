/** flatten: dst = src as [n, product of its other dimensions]
 *
 *  src   [n, ...]; [n] becomes [n, 1], as in Keras
 *  dst   [n, features]
 *  name  default flatten, flatten_1, ...
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_flatten_options {
    int zero_;
    const char *name;
    int end_;
} mst_layer_flatten_options;
#define mst_flatten(...) MST_FLATTEN_(__VA_ARGS__, .end_ = 0)
#define MST_FLATTEN_(source, ...) MST_LAYER(flatten, source, MST_NAMED(mst_layer_flatten_options, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_STRING(mst_layer_flatten_options, name, "of the layer"),
    MST_FIELD_END,
};

/* The product of all dimensions of the source except the first. */
static mst_status count_features(const mst_layer_call *call, int64_t *features) {
    const mst_shape shape = mst_value_spec(call->src[0]).shape;
    if (shape.ndim < 1) return MST_FAIL(MST_INVALID, "flatten '%s': needs [n, ...], got a scalar", call->name);
    *features = 1;
    for (int i = 1; i < shape.ndim; i++) {
        if (shape.dim[i] < 0)
            return MST_FAIL(MST_INVALID, "flatten '%s': only the first dimension of '%s' may be open", call->name,
                            mst_value_name(call->src[0]));
        if (__builtin_mul_overflow(*features, shape.dim[i], features))
            return MST_FAIL(MST_INVALID, "flatten '%s': '%s' has too many elements", call->name,
                            mst_value_name(call->src[0]));
    }
    if (*features < 1) return MST_FAIL(MST_INVALID, "flatten '%s': no features to compute with", call->name);
    return MST_OK;
}

static mst_value flatten_build(const mst_layer_call *call) {
    int64_t features;
    if (mst_value_spec(call->src[0]).shape.ndim == 2) return call->src[0];
    if (count_features(call, &features)) return mst_layer_fail(call);
    return mst_reshape(call->src[0], MST_SHAPE(-1, features));
}

const mst_layer_type mst_layer_type_flatten = {
    .name = "flatten",
    .class_name = "Flatten",
    .options_size = sizeof(mst_layer_flatten_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = flatten_build,
};
