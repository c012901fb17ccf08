/** scaled_add: dst = src 0 + scale * src 1
 *
 *  src    two outputs of the same shape, or of shapes that broadcast: MST_OUTPUTS(a, b)
 *  scale  default 1
 *  name   default scaled_add, scaled_add_1, ...
 *  dst    of the shape that the sources broadcast to
 *
 *  keras.applications.InceptionResNetV2 has this layer, as CustomScaleLayer.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_scaled_add_options {
    int zero_;
    float scale;
    const char *name;
} mst_layer_scaled_add_options;
#define mst_scaled_add(sources, ...) \
    MST_LAYER(scaled_add, sources, MST_NAMED(mst_layer_scaled_add_options, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_F32(mst_layer_scaled_add_options, scale, 1, 0, 0, "factor of the second source"),
    MST_FIELD_STRING(mst_layer_scaled_add_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value scaled_add_build(const mst_layer_call *call) {
    const mst_layer_scaled_add_options *o = call->options;
    return mst_add(call->src[0], mst_scale(call->src[1], (double)o->scale));
}

const mst_layer_type mst_layer_type_scaled_add = {
    .name = "scaled_add",
    .class_name = "CustomScaleLayer",
    .options_size = sizeof(mst_layer_scaled_add_options),
    .fields = fields,
    .min_src = 2,
    .max_src = 2,
    .build = scaled_add_build,
    .mask = mst_layer_mask_refuse,
};
