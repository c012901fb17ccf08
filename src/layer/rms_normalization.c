/** rms_normalization: dst = scale * src / sqrt(mean(src^2) + epsilon), with the mean of each example over its last axis
 *
 *  src       [n, ...], f32 or f64, with a last dimension that is known
 *  epsilon   default 1e-6
 *  name      default rms_normalization, rms_normalization_1, ...
 *  dst       like src
 *
 *  Weights: scale, ones at first, as long as the last dimension. https://arxiv.org/abs/1910.07467
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_rms_normalization_options {
    int zero_;
    float epsilon;
    const char *name;
    int end_;
} mst_layer_rms_normalization_options;
#define mst_rms_normalization(...) MST_RMS_NORMALIZATION_(__VA_ARGS__, .end_ = 0)
#define MST_RMS_NORMALIZATION_(source, ...) \
    MST_LAYER(rms_normalization, source, MST_NAMED(mst_layer_rms_normalization_options, __VA_ARGS__))
#endif
#include "layer/initializer/initializer.h"
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_F32(mst_layer_rms_normalization_options, epsilon, 1e-6, 1e-30, 1e30, "added to the mean of squares"),
    MST_FIELD_STRING(mst_layer_rms_normalization_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status rms_normalization_weights(mst_layer_call *call) {
    int64_t channels;
    MST_TRY(mst_layer_channels(call, "[n, ..., features]", 2, MST_MAX_NDIM, &channels));
    mst_layer_weight(call, .name = "scale", .shape = MST_SHAPE(channels), .dtype = mst_value_spec(call->src[0]).dtype,
                     .initializer = mst_ones_initializer());
    return MST_OK;
}

static mst_value rms_normalization_build(const mst_layer_call *call) {
    const mst_layer_rms_normalization_options *o = call->options;
    const mst_value src = call->src[0];
    const mst_value mean = mst_reduce_mean(.src = mst_square(src), .axes = MST_AXES(-1), .keep_dims = true);
    const mst_value epsilon = mst_scalar(call->graph, mst_value_spec(src).dtype, (double)o->epsilon);
    return mst_mul(mst_mul(src, mst_rsqrt(mst_add(mean, epsilon))), call->weight[0]);
}

const mst_layer_type mst_layer_type_rms_normalization = {
    .name = "rms_normalization",
    .class_name = "RMSNormalization",
    .options_size = sizeof(mst_layer_rms_normalization_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .weights = rms_normalization_weights,
    .build = rms_normalization_build,
    .mask = mst_layer_mask_pass,
    .by_step = true,
};
