/** layer_scale: dst = src * gamma, with a factor for each channel
 *
 *  src          [n, ..., channels]
 *  channels     those of src
 *  init_values  initial value of gamma, default 1e-6
 *  name         default layer_scale, layer_scale_1, ...
 *  dst          like src
 *
 *  Weights: gamma [channels]. https://arxiv.org/abs/2103.17239; keras.applications.ConvNeXt has this layer.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_layer_scale_options {
    int zero_;
    int64_t channels;
    float init_values;
    const char *name;
} mst_layer_layer_scale_options;
#define mst_layer_scale(source, ...) \
    MST_LAYER(layer_scale, source, MST_NAMED_1(mst_layer_layer_scale_options, channels, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_I64(mst_layer_layer_scale_options, channels, 0, 1, 1e9, "of the source"),
    MST_FIELD_F32(mst_layer_layer_scale_options, init_values, 1e-6, -1e30, 1e30, "initial value of the factors"),
    MST_FIELD_STRING(mst_layer_layer_scale_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status layer_scale_weights(mst_layer_call *call) {
    const mst_layer_layer_scale_options *o = call->options;
    int64_t channels;
    MST_TRY(mst_layer_channels(call, "[n, ..., channels]", 2, MST_MAX_NDIM, &channels));
    if (channels != o->channels)
        return MST_FAIL(MST_INVALID, "layer_scale '%s': its source has %lld channels, must have %lld", call->name,
                        (long long)channels, (long long)o->channels);
    mst_layer_weight(call, .name = "gamma", .shape = MST_SHAPE(channels), .dtype = mst_value_spec(call->src[0]).dtype,
                     .initializer = mst_constant_initializer((double)o->init_values));
    return MST_OK;
}

static mst_value layer_scale_build(const mst_layer_call *call) {
    return mst_mul(call->src[0], call->weight[0]);
}

const mst_layer_type mst_layer_type_layer_scale = {
    .name = "layer_scale",
    .class_name = "LayerScale",
    .options_size = sizeof(mst_layer_layer_scale_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .weights = layer_scale_weights,
    .build = layer_scale_build,
};
