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
#include "layer/rows.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_STRING(mst_layer_flatten_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value build(const mst_layer_call *call) {
    int64_t features;
    if (mst_value_spec(call->src[0]).shape.ndim == 1) return mst_expand_dims(call->src[0], 1);
    if (mst_row_features(call, &features)) return mst_layer_fail(call);
    return mst_as_rows(call->src[0], features);
}

const mst_layer_type mst_layer_type_flatten = {
    .name = "flatten",
    .class_name = "Flatten",
    .options_size = sizeof(mst_layer_flatten_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = build,
};
