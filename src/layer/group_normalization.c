/** group_normalization: dst = gamma * (src - mean) / sqrt(variance + epsilon) + beta, with mean and variance for each
 *  example and group of channels, over all other axes
 *
 *  src       [n, ..., channels], f32 or f64
 *  groups    number of groups of neighbouring channels, default 32; must divide the channels; -1: each channel is one
 *  epsilon   default 0.001
 *  no_center leaves beta out
 *  no_scale  leaves gamma out
 *  dst       like src
 *
 *  Weights: gamma, beta, [channels] each.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_group_normalization_options {
    int zero_;
    int32_t groups;
    float epsilon;
    bool no_center, no_scale;
    mst_initializer beta_initializer;  /**< default zeros; glorot_uniform counts as not given */
    mst_initializer gamma_initializer; /**< default ones; glorot_uniform counts as not given */
    const char *name;
    int end_;
    mst_constraint gamma_constraint, beta_constraint; /**< of the weights after each step; default none */
} mst_layer_group_normalization_options;
#define mst_group_normalization(...) MST_GROUP_NORMALIZATION_(__VA_ARGS__, .end_ = 0)
#define MST_GROUP_NORMALIZATION_(source, ...) \
    MST_LAYER(group_normalization, source, MST_NAMED(mst_layer_group_normalization_options, __VA_ARGS__))
#endif
#include "layer/gamma_beta.h"
#include "layer/initializer/initializer.h"
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_group_normalization_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(I32, groups, 32, -1, 1e9, "of channels; -1: each channel by itself"),
    FIELD(F32, epsilon, 1e-3, 1e-30, 1e30, "added to the variance"),
    FIELD(BOOL, no_center, "leaves beta out"),
    FIELD(BOOL, no_scale, "leaves gamma out"),
    FIELD(NESTED, beta_initializer, mst_initializer_fields, "of beta"),
    FIELD(NESTED, gamma_initializer, mst_initializer_fields, "of gamma"),
    FIELD(STRING, name, "of the layer"),
    MST_GAMMA_BETA_CONSTRAINT_FIELDS(FIELD),
    MST_FIELD_END,
};

static mst_status group_normalization_weights(mst_layer_call *call) {
    const mst_layer_group_normalization_options *o = call->options;
    int64_t channels;
    MST_TRY(mst_layer_channels(call, "[n, ..., channels]", 2, MST_MAX_NDIM, &channels));
    if (o->groups > 0 && channels % o->groups)
        return MST_FAIL(MST_INVALID, "group_normalization '%s': %lld channels are no multiple of %d groups", call->name,
                        (long long)channels, (int)o->groups);
    mst_gamma_beta_weights(call, MST_GAMMA_BETA(o), MST_SHAPE(channels));
    return MST_OK;
}

static mst_value group_normalization_build(const mst_layer_call *call) {
    const mst_layer_group_normalization_options *o = call->options;
    const mst_spec src = mst_value_spec(call->src[0]);
    const int64_t channels = src.shape.dim[src.shape.ndim - 1];
    const mst_shape shape = MST_SHAPE(channels);
    mst_value gamma, beta;
    mst_gamma_beta_values(call, MST_GAMMA_BETA(o), shape, &gamma, &beta);
    return mst_group_norm(call->src[0], gamma, beta, .groups = o->groups < 0 ? (int32_t)channels : o->groups,
                          .epsilon = (double)o->epsilon);
}

const mst_layer_type mst_layer_type_group_normalization = {
    .name = "group_normalization",
    .class_name = "GroupNormalization",
    .options_size = sizeof(mst_layer_group_normalization_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .weights = group_normalization_weights,
    .build = group_normalization_build,
    .mask = mst_layer_mask_pass,
};
