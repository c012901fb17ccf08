/** separable_conv1d: dst = activation(pointwise convolution of (convolution of each channel of src with its own
 *  filters) + bias)
 *
 *  src               [n, steps, channels]
 *  filters           channels of dst
 *  kernel_size       elements of a window
 *  strides           distance from one window to the next, default 1
 *  padding           MST_PADDING_VALID (default) or MST_PADDING_SAME
 *  dilation_rate     distance between the elements of a window, default 1
 *  depth_multiplier  filters of each channel, default 1
 *  activation        default linear
 *  dst               [n, outputs, filters]
 *
 *  Weights: depthwise_kernel [kernel_size, channels, depth_multiplier], pointwise_kernel
 *  [1, channels * depth_multiplier, filters], bias [filters]. The ops on values are
 *  mst_convolve1d_depthwise and mst_convolve1d.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_separable_conv1d_options {
    int zero_;
    int64_t filters;
    int32_t kernel_size;
    int32_t strides;
    mst_window_padding padding;
    int32_t dilation_rate;
    int32_t depth_multiplier;
    mst_activation activation;
    bool no_bias;
    mst_initializer depthwise_initializer; /**< default glorot_uniform */
    mst_initializer pointwise_initializer; /**< default glorot_uniform */
    mst_initializer bias_initializer;      /**< default zeros; glorot_uniform counts as not given */
    /** Penalties of the kernels: l1 * sum |kernel| + l2 / 2 * sum kernel^2; Keras' l2 has no 1/2. */
    float depthwise_l1, depthwise_l2, pointwise_l1, pointwise_l2;
    const char *name;
    /** Of the weights after each step; default none. */
    mst_constraint depthwise_constraint, pointwise_constraint, bias_constraint;
} mst_layer_separable_conv1d_options;
#define mst_separable_conv1d(source, ...) \
    MST_LAYER(separable_conv1d, source,   \
              MST_NAMED_2(mst_layer_separable_conv1d_options, filters, kernel_size, __VA_ARGS__))
#endif
#include "layer/activation/activation.h"
#include "layer/conv_fields.h"
#include "layer/initializer/initializer.h"
#include "layer/kernel_bias.h"
#include "layer/separable.h"
#include "muster/ops.h"
#include "op/conv/window.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_separable_conv1d_options, __VA_ARGS__)

static const mst_field fields[] = {
    FIELD(I64, filters, 0, 1, 1e9, "channels of the output"),
    FIELD(I32, kernel_size, 0, 1, 1e6, "elements of a window"),
    FIELD(I32, strides, 1, 1, 1e6, "from one window to the next"),
    FIELD(ENUM, padding, MST_PADDING_VALID, mst_window_paddings, "around the source"),
    FIELD(I32, dilation_rate, 1, 1, 1e6, "between the elements of a window"),
    FIELD(I32, depth_multiplier, 1, 1, 1e6, "filters of each channel"),
    MST_SEPARABLE_CONV_FIELDS(FIELD),
    MST_FIELD_END,
};

static mst_status separable_conv1d_weights(mst_layer_call *call) {
    const mst_layer_separable_conv1d_options *o = call->options;
    int64_t channels;
    MST_TRY(mst_layer_channels(call, "[n, steps, channels]", 3, 3, &channels));
    mst_separable_weights(call,
                          &(const mst_separable){.depthwise = MST_SHAPE(o->kernel_size, channels, o->depth_multiplier),
                                                 .filters = o->filters,
                                                 .no_bias = o->no_bias,
                                                 .depthwise_initializer = o->depthwise_initializer,
                                                 .pointwise_initializer = o->pointwise_initializer,
                                                 .bias_initializer = o->bias_initializer,
                                                 .depthwise_l1 = o->depthwise_l1,
                                                 .depthwise_l2 = o->depthwise_l2,
                                                 .pointwise_l1 = o->pointwise_l1,
                                                 .pointwise_l2 = o->pointwise_l2,
                                                 .depthwise_constraint = o->depthwise_constraint,
                                                 .pointwise_constraint = o->pointwise_constraint,
                                                 .bias_constraint = o->bias_constraint});
    return MST_OK;
}

static mst_value separable_conv1d_build(const mst_layer_call *call) {
    const mst_layer_separable_conv1d_options *o = call->options;
    const mst_value apart = mst_convolve1d_depthwise(call->src[0], call->weight[0], .stride = o->strides,
                                                     .padding = o->padding, .dilation = o->dilation_rate);
    return mst_kernel_bias_end(call, mst_convolve1d(apart, call->weight[1]), o->no_bias, o->activation);
}

const mst_layer_type mst_layer_type_separable_conv1d = {
    .name = "separable_conv1d",
    .class_name = "SeparableConv1D",
    .options_size = sizeof(mst_layer_separable_conv1d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .weights = separable_conv1d_weights,
    .build = separable_conv1d_build,
};
