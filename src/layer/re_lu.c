/** re_lu: dst = min(src, max_value) if src > 0, else negative_slope * src
 *
 *  src             any shape, f32 or f64
 *  max_value       default: none
 *  negative_slope  default 0
 *  dst             like src
 *
 *  The same as Keras' ReLU, but without its option threshold.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_re_lu_options {
    int zero_;
    float max_value;
    float negative_slope;
    const char *name;
    int end_;
} mst_layer_re_lu_options;
#define mst_re_lu(...) MST_RE_LU_(__VA_ARGS__, .end_ = 0)
#define MST_RE_LU_(source, ...) MST_LAYER(re_lu, source, MST_NAMED(mst_layer_re_lu_options, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_F32(mst_layer_re_lu_options, max_value, 0, 0, 1e30, "largest output; 0: none"),
    MST_FIELD_F32(mst_layer_re_lu_options, negative_slope, 0, 0, 1, "of what is below 0"),
    MST_FIELD_STRING(mst_layer_re_lu_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value re_lu_build(const mst_layer_call *call) {
    const mst_layer_re_lu_options *o = call->options;
    const mst_value src = call->src[0];
    if (o->max_value == 6 && o->negative_slope == 0) return mst_relu6(src);
    const mst_value y = o->negative_slope > 0 ? mst_leaky_relu(src, .slope = o->negative_slope) : mst_relu(src);
    if (o->max_value == 0) return y;
    return mst_minimum(y, mst_scalar(call->graph, mst_value_spec(src).dtype, (double)o->max_value));
}

const mst_layer_type mst_layer_type_re_lu = {
    .name = "re_lu",
    .class_name = "ReLU",
    .options_size = sizeof(mst_layer_re_lu_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = re_lu_build,
    .mask = mst_layer_mask_pass,
    .by_step = true,
};
