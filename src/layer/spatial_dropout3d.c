/** spatial_dropout3d: in training, dst = src * mask; otherwise dst = src. Each channel of an example has one mask for
 *  all depth, height and width: 0 with probability rate, and else 1 / (1 - rate)
 *
 *  src   f32 or f64, [n, depth, height, width, channels]
 *  rate  fraction of the channels that is dropped, 0 <= rate < 1
 *  seed  of the random numbers; 0 (default): made from the layer's name
 *  name  default spatial_dropout3d, spatial_dropout3d_1, ...
 *  dst   like src
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_spatial_dropout3d_options {
    int zero_;
    float rate;
    uint64_t seed;
    const char *name;
} mst_layer_spatial_dropout3d_options;
#define mst_spatial_dropout3d(source, ...) \
    MST_LAYER(spatial_dropout3d, source, MST_NAMED(mst_layer_spatial_dropout3d_options, __VA_ARGS__))
#endif
#include "layer/noise.h"
#include "muster/layers.h"

static const mst_field fields[] = {
    MST_FIELD_F32(mst_layer_spatial_dropout3d_options, rate, 0, 0, 0x1.fffffep-1, "part that is dropped, below 1"),
    MST_FIELD_U64(mst_layer_spatial_dropout3d_options, seed, "of the mask; 0: made from the layer's name"),
    MST_FIELD_STRING(mst_layer_spatial_dropout3d_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value spatial_dropout3d_build(const mst_layer_call *call) {
    const mst_layer_spatial_dropout3d_options *o = call->options;
    return mst_noise_channels(call, o->rate, o->seed, 5, "[n, depth, height, width, channels]");
}

const mst_layer_type mst_layer_type_spatial_dropout3d = {
    .name = "spatial_dropout3d",
    .class_name = "SpatialDropout3D",
    .options_size = sizeof(mst_layer_spatial_dropout3d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = spatial_dropout3d_build,
    .mask = mst_layer_mask_pass,
};
