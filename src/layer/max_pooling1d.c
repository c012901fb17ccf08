/** max_pooling1d: dst = the maximum of src in each window
 *
 *  src        [n, steps, channels]
 *  pool_size  default 2
 *  strides    distance from one window to the next, default pool_size
 *  padding    MST_PADDING_VALID (default) or MST_PADDING_SAME
 *  dst        [n, outputs, channels]
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_max_pooling1d_options {
    int zero_;
    int32_t pool_size;
    int32_t strides;
    mst_window_padding padding;
    const char *name;
    int end_;
} mst_layer_max_pooling1d_options;
#define mst_max_pooling1d(...) MST_MAX_POOLING1D_(__VA_ARGS__, .end_ = 0)
#define MST_MAX_POOLING1D_(source, ...) \
    MST_LAYER(max_pooling1d, source, MST_NAMED(mst_layer_max_pooling1d_options, __VA_ARGS__))
#endif
#include "layer/pool_fields.h"
#include "muster/layers.h"
#include "muster/ops.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_max_pooling1d_options, __VA_ARGS__)

static const mst_field fields[] = {
    MST_POOL1D_FIELDS(FIELD),
    MST_FIELD_END,
};

static mst_value max_pooling1d_build(const mst_layer_call *call) {
    const mst_layer_max_pooling1d_options *o = call->options;
    return mst_max_pool1d(call->src[0], o->pool_size, .stride = o->strides, .padding = o->padding);
}

const mst_layer_type mst_layer_type_max_pooling1d = {
    .name = "max_pooling1d",
    .class_name = "MaxPooling1D",
    .options_size = sizeof(mst_layer_max_pooling1d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = max_pooling1d_build,
};
