/** dense: dst = activation(src kernel + bias), along the last axis of src
 *
 *  src         [n, ..., features]; put a flatten before it for [n, all features]
 *  units       columns of dst
 *  activation  default linear
 *  dst         [n, ..., units]
 *
 *  Weights: kernel [features, units], bias [units].
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_dense_options {
    int zero_;
    int64_t units;
    mst_activation activation;
    const char *name; /**< of the layer, and of the scope of its weights; default dense, dense_1, ... */
    bool no_bias;
    mst_initializer kernel_initializer;  /**< default glorot_uniform */
    mst_initializer bias_initializer;    /**< default zeros; glorot_uniform counts as not given */
    float l1, l2;                        /**< penalty: l1 * sum |kernel| + l2 / 2 * sum kernel^2; Keras omits 1/2 */
    const char *kernel_name, *bias_name; /**< default kernel, bias */
    mst_precision precision;             /**< of its matrix products; default: that of the session */
    mst_constraint kernel_constraint, bias_constraint; /**< of the weights after each step; default none */
} mst_layer_dense_options;
#define mst_dense(source, ...) MST_LAYER(dense, source, MST_NAMED_1(mst_layer_dense_options, units, __VA_ARGS__))
#endif
#include "layer/activation/activation.h"
#include "layer/affine.h"
#include "layer/initializer/initializer.h"
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"
#include "rule/constraint.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_dense_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(I64, units, 0, 1, 1e12, "columns of the output"),
    FIELD(ENUM, activation, 0, mst_activation_names, "of the output"),
    FIELD(STRING, name, "of the layer"),
    FIELD(BOOL, no_bias, "leaves the bias out"),
    FIELD(NESTED, kernel_initializer, mst_initializer_fields, "of the kernel"),
    FIELD(NESTED, bias_initializer, mst_initializer_fields, "of the bias"),
    FIELD(F32, l1, 0, 0, 1e30, "penalty of the kernel's magnitudes"),
    FIELD(F32, l2, 0, 0, 1e30, "penalty of the kernel's squares"),
    FIELD(STRING, kernel_name, "of the kernel"),
    FIELD(STRING, bias_name, "of the bias"),
    FIELD(ENUM, precision, MST_PRECISION_DEFAULT, mst_precision_names, "of its products; default the session's"),
    FIELD(NESTED, kernel_constraint, mst_constraint_fields, "of the kernel"),
    FIELD(NESTED, bias_constraint, mst_constraint_fields, "of the bias"),
    MST_FIELD_END,
};

static mst_status count_features(const mst_layer_call *call, int64_t *features) {
    const mst_shape shape = mst_value_spec(call->src[0]).shape;
    if (shape.ndim < 2)
        return MST_FAIL(MST_INVALID, "dense '%s': needs [n, ..., features], got %d dimension%s", call->name, shape.ndim,
                        shape.ndim == 1 ? "" : "s");
    *features = shape.dim[shape.ndim - 1];
    if (*features < 0)
        return MST_FAIL(MST_INVALID, "dense '%s': the last dimension of '%s' must be known", call->name,
                        mst_value_name(call->src[0]));
    return *features ? MST_OK : MST_FAIL(MST_INVALID, "dense '%s': no features to compute with", call->name);
}

static mst_status weights(mst_layer_call *call) {
    const mst_layer_dense_options *o = call->options;
    const mst_spec src = mst_value_spec(call->src[0]);
    int64_t features = 1;
    const mst_initializer bias = mst_initializer_or(o->bias_initializer, mst_zeros_initializer());
    MST_TRY(count_features(call, &features));
    mst_layer_weight(call, .name = o->kernel_name ? o->kernel_name : "kernel", .shape = MST_SHAPE(features, o->units),
                     .dtype = src.dtype, .initializer = o->kernel_initializer, .l1 = o->l1, .l2 = o->l2,
                     .constraint = o->kernel_constraint);
    if (!o->no_bias)
        mst_layer_weight(call, .name = o->bias_name ? o->bias_name : "bias", .shape = MST_SHAPE(o->units),
                         .dtype = src.dtype, .initializer = bias, .constraint = o->bias_constraint);
    return MST_OK;
}

static mst_value dense_build(const mst_layer_call *call) {
    const mst_value bias = call->num_weights > 1 ? call->weight[1] : MST_NONE;
    const mst_layer_dense_options *o = call->options;
    const mst_value y = mst_affine(call->src[0], call->weight[0], bias, o->precision);
    return mst_activation_build(y, o->activation);
}

const mst_layer_type mst_layer_type_dense = {
    .name = "dense",
    .class_name = "Dense",
    .options_size = sizeof(mst_layer_dense_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .weights = weights,
    .build = dense_build,
    .mask = mst_layer_mask_pass,
    .by_step = true,
};
