/** layer_normalization: dst = gamma * (src - mean) / sqrt(variance + epsilon) + beta, with the mean and variance of
 *  each example, over axes
 *
 *  src       [n, ...], f32 or f64
 *  axes      one or more of the last axes of src, in their order, without the batch; negative ones count from the end;
 *            default -1
 *  epsilon   default 0.001
 *  no_center leaves beta out
 *  no_scale  leaves gamma out
 *  dst       like src
 *
 *  Weights: gamma and beta, each with the lengths of the axes as its shape.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_layer_normalization_options {
    int zero_;
    mst_axes axes;
    float epsilon;
    bool no_center, no_scale;
    mst_initializer beta_initializer;  /**< default zeros; glorot_uniform counts as not given */
    mst_initializer gamma_initializer; /**< default ones; glorot_uniform counts as not given */
    const char *name;
    int end_;
    mst_constraint gamma_constraint, beta_constraint; /**< of the weights after each step; default none */
} mst_layer_layer_normalization_options;
#define mst_layer_normalization(...) MST_LAYER_NORMALIZATION_(__VA_ARGS__, .end_ = 0)
#define MST_LAYER_NORMALIZATION_(source, ...) \
    MST_LAYER(layer_normalization, source, MST_NAMED(mst_layer_layer_normalization_options, __VA_ARGS__))
#endif
#include "layer/gamma_beta.h"
#include "layer/initializer/initializer.h"
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_layer_normalization_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(AXES, axes, "that are normalized, the last ones; none: the last"),
    FIELD(F32, epsilon, 1e-3, 1e-30, 1e30, "added to the variance"),
    FIELD(BOOL, no_center, "leaves beta out"),
    FIELD(BOOL, no_scale, "leaves gamma out"),
    FIELD(NESTED, beta_initializer, mst_initializer_fields, "of beta"),
    FIELD(NESTED, gamma_initializer, mst_initializer_fields, "of gamma"),
    FIELD(STRING, name, "of the layer"),
    MST_GAMMA_BETA_CONSTRAINT_FIELDS(FIELD),
    MST_FIELD_END,
};

/* The lengths of the axes of SRC that are normalized. */
static mst_status find_shape(const mst_layer_layer_normalization_options *o, const char *name, mst_shape src,
                             mst_shape *out) {
    const int count = o->axes.count ? o->axes.count : 1, first = src.ndim - count;
    char text[MST_SHAPE_TEXT];
    bool good = first >= 1;
    *out = (mst_shape){.ndim = count};
    for (int i = 0; i < count && good; i++) {
        const int axis = o->axes.count ? o->axes.axis[i] : -1;
        out->dim[i] = src.dim[first + i];
        good = (axis < 0 ? axis + src.ndim : axis) == first + i && out->dim[i] > 0;
    }
    if (good) return MST_OK;
    return MST_FAIL(
        MST_INVALID,
        "layer_normalization '%s': of %s the last axes are taken, without the batch, in their order and with "
        "lengths that are known",
        name, mst_shape_print(src, text, sizeof text));
}

static mst_status layer_normalization_weights(mst_layer_call *call) {
    const mst_layer_layer_normalization_options *o = call->options;
    const mst_spec src = mst_value_spec(call->src[0]);
    mst_shape shape;
    MST_TRY(find_shape(o, call->name, src.shape, &shape));
    mst_gamma_beta_weights(call, MST_GAMMA_BETA(o), shape);
    return MST_OK;
}

static mst_value layer_normalization_build(const mst_layer_call *call) {
    const mst_layer_layer_normalization_options *o = call->options;
    const mst_spec src = mst_value_spec(call->src[0]);
    mst_shape shape;
    if (find_shape(o, call->name, src.shape, &shape)) return mst_layer_fail(call);
    mst_value gamma, beta;
    mst_gamma_beta_values(call, MST_GAMMA_BETA(o), shape, &gamma, &beta);
    return mst_layer_norm(call->src[0], gamma, beta, .epsilon = (double)o->epsilon);
}

const mst_layer_type mst_layer_type_layer_normalization = {
    .name = "layer_normalization",
    .class_name = "LayerNormalization",
    .options_size = sizeof(mst_layer_layer_normalization_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .weights = layer_normalization_weights,
    .build = layer_normalization_build,
    .mask = mst_layer_mask_pass,
    .by_step = true,
};
