/** rescaling: dst = src * scale + offset
 *
 *  src     any shape; numbers that are not f32 or f64 become f32 first
 *  scale   default 1
 *  offset  default 0
 *  name    default rescaling, rescaling_1, ...
 *  dst     like src
 *
 *  Behind the input of a network for pictures it takes pixels from 0 to 255: the commands do not divide them by 255
 *  then.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_rescaling_options {
    int zero_;
    float scale;
    float offset;
    const char *name;
    int end_;
} mst_layer_rescaling_options;
#define mst_rescaling(...) MST_RESCALING_(__VA_ARGS__, .end_ = 0)
#define MST_RESCALING_(source, ...) MST_LAYER(rescaling, source, MST_NAMED(mst_layer_rescaling_options, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_F32(mst_layer_rescaling_options, scale, 1, -1e30, 1e30, "factor"),
    MST_FIELD_F32(mst_layer_rescaling_options, offset, 0, -1e30, 1e30, "what is added"),
    MST_FIELD_STRING(mst_layer_rescaling_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value rescaling_build(const mst_layer_call *call) {
    const mst_layer_rescaling_options *o = call->options;
    mst_value x = call->src[0];
    if (!mst_dtype_is_float(mst_value_spec(x).dtype)) x = mst_cast(x, MST_F32);
    const mst_value y = o->scale == 1 ? x : mst_scale(x, (double)o->scale);
    return o->offset == 0 ? y : mst_add(y, mst_scalar(call->graph, mst_value_spec(x).dtype, (double)o->offset));
}

const mst_layer_type mst_layer_type_rescaling = {
    .name = "rescaling",
    .class_name = "Rescaling",
    .options_size = sizeof(mst_layer_rescaling_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = rescaling_build,
    .mask = mst_layer_mask_pass,
};
