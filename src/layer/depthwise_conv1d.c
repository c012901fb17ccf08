/** depthwise_conv1d: dst = activation(convolution of each channel of src with its own filters + bias)
 *
 *  src               [n, steps, channels]
 *  kernel_size       elements of a window
 *  strides           distance from one window to the next, default 1
 *  padding           MST_PADDING_VALID (default) or MST_PADDING_SAME
 *  dilation_rate     distance between the elements of a window, default 1
 *  depth_multiplier  filters of each channel, default 1
 *  activation        default linear
 *  dst               [n, outputs, channels * depth_multiplier]
 *
 *  Weights: kernel [kernel_size, channels, depth_multiplier], bias [channels * depth_multiplier]. The op on values is
 *  mst_convolve1d_depthwise.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_depthwise_conv1d_options {
    int zero_;
    int32_t kernel_size;
    int32_t strides;
    mst_window_padding padding;
    int32_t dilation_rate;
    int32_t depth_multiplier;
    mst_activation activation;
    bool no_bias;
    mst_initializer depthwise_initializer; /**< default glorot_uniform */
    mst_initializer bias_initializer;      /**< default zeros; glorot_uniform counts as not given */
    float l1, l2; /**< penalty of the kernel: l1 * sum |kernel| + l2 / 2 * sum kernel^2; Keras' l2 has no 1/2 */
    const char *name;
    mst_constraint depthwise_constraint, bias_constraint; /**< of the weights after each step; default none */
} mst_layer_depthwise_conv1d_options;
#define mst_depthwise_conv1d(source, ...) \
    MST_LAYER(depthwise_conv1d, source, MST_NAMED_1(mst_layer_depthwise_conv1d_options, kernel_size, __VA_ARGS__))
#endif
#include "layer/activation/activation.h"
#include "layer/conv_fields.h"
#include "layer/initializer/initializer.h"
#include "layer/kernel_bias.h"
#include "muster/ops.h"
#include "op/conv/window.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_depthwise_conv1d_options, __VA_ARGS__)

static const mst_field fields[] = {
    FIELD(I32, kernel_size, 0, 1, 1e6, "elements of a window"),
    FIELD(I32, strides, 1, 1, 1e6, "from one window to the next"),
    FIELD(ENUM, padding, MST_PADDING_VALID, mst_window_paddings, "around the source"),
    FIELD(I32, dilation_rate, 1, 1, 1e6, "between the elements of a window"),
    FIELD(I32, depth_multiplier, 1, 1, 1e6, "filters of each channel"),
    MST_CONV_FIELDS(FIELD, depthwise),
    MST_FIELD_END,
};

static mst_status depthwise_conv1d_weights(mst_layer_call *call) {
    const mst_layer_depthwise_conv1d_options *o = call->options;
    int64_t channels;
    MST_TRY(mst_layer_channels(call, "[n, steps, channels]", 3, 3, &channels));
    mst_kernel_bias_weights(call,
                            &(const mst_kernel_bias){.kernel = MST_SHAPE(o->kernel_size, channels, o->depth_multiplier),
                                                     .filters = channels * o->depth_multiplier,
                                                     .no_bias = o->no_bias,
                                                     .kernel_initializer = o->depthwise_initializer,
                                                     .bias_initializer = o->bias_initializer,
                                                     .l1 = o->l1,
                                                     .l2 = o->l2,
                                                     .kernel_constraint = o->depthwise_constraint,
                                                     .bias_constraint = o->bias_constraint});
    return MST_OK;
}

static mst_value depthwise_conv1d_build(const mst_layer_call *call) {
    const mst_layer_depthwise_conv1d_options *o = call->options;
    const mst_value y = mst_convolve1d_depthwise(call->src[0], call->weight[0], .stride = o->strides,
                                                 .padding = o->padding, .dilation = o->dilation_rate);
    return mst_kernel_bias_end(call, y, o->no_bias, o->activation);
}

const mst_layer_type mst_layer_type_depthwise_conv1d = {
    .name = "depthwise_conv1d",
    .class_name = "DepthwiseConv1D",
    .options_size = sizeof(mst_layer_depthwise_conv1d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .weights = depthwise_conv1d_weights,
    .build = depthwise_conv1d_build,
};
