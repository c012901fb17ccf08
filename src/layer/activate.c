/** activation: dst = activation(src)
 *
 *  src         any shape
 *  activation  MST_RELU, ...; as in Keras 3, leaky_relu has the slope 0.2, elu has alpha 1, gelu uses erf, and softmax
 *              is along the last axis
 *  name        default activation, activation_1, ...
 *  dst         like src
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_activation_options {
    int zero_;
    mst_activation activation;
    const char *name;
} mst_layer_activation_options;
#define mst_activate(source, ...) \
    MST_LAYER(activation, source, MST_NAMED_1(mst_layer_activation_options, activation, __VA_ARGS__))
#endif
#include "layer/activation/activation.h"
#include "layer/type.h"
#include "muster/layers.h"

static const mst_field fields[] = {
    MST_FIELD_ENUM(mst_layer_activation_options, activation, 0, mst_activation_names, "of the output"),
    MST_FIELD_STRING(mst_layer_activation_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value activate_build(const mst_layer_call *call) {
    const mst_layer_activation_options *o = call->options;
    return mst_activation_build(call->src[0], o->activation);
}

const mst_layer_type mst_layer_type_activation = {
    .name = "activation",
    .class_name = "Activation",
    .options_size = sizeof(mst_layer_activation_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = activate_build,
    .mask = mst_layer_mask_pass,
    .by_step = true,
};
