/** conv1d: dst = activation(convolution of src with kernel + bias)
 *
 *  src            [n, steps, channels]
 *  filters        channels of dst
 *  kernel_size    elements of a window
 *  strides        distance from one window to the next, default 1
 *  padding        MST_PADDING_VALID (default) or MST_PADDING_SAME
 *  causal         Keras' padding "causal": no output depends on a later step
 *  dilation_rate  distance between the elements of a window, default 1
 *  groups         groups of channels that do not mix, default 1
 *  activation     default linear
 *  dst            [n, outputs, filters]
 *
 *  Weights: kernel [kernel_size, channels / groups, filters], bias [filters]. The op on values is mst_convolve1d.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_conv1d_options {
    int zero_;
    int64_t filters;
    int32_t kernel_size;
    int32_t strides;
    mst_window_padding padding;
    bool causal; /**< pads with zeros only before the source; `padding` is not used */
    int32_t dilation_rate;
    int32_t groups;
    mst_activation activation;
    bool no_bias;
    mst_initializer kernel_initializer; /**< default glorot_uniform */
    mst_initializer bias_initializer;   /**< default zeros; glorot_uniform counts as not given */
    float l1, l2; /**< penalty of the kernel: l1 * sum |kernel| + l2 / 2 * sum kernel^2; Keras' l2 has no 1/2 */
    const char *name;
    mst_precision precision;                           /**< of its matrix products; default: that of the session */
    mst_constraint kernel_constraint, bias_constraint; /**< of the weights after each step; default none */
} mst_layer_conv1d_options;
#define mst_conv1d(source, ...) \
    MST_LAYER(conv1d, source, MST_NAMED_2(mst_layer_conv1d_options, filters, kernel_size, __VA_ARGS__))
#endif
#include "layer/activation/activation.h"
#include "layer/conv_fields.h"
#include "layer/initializer/initializer.h"
#include "layer/kernel_bias.h"
#include "muster/ops.h"
#include "op/conv/window.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_conv1d_options, __VA_ARGS__)

static const mst_field fields[] = {
    FIELD(I64, filters, 0, 1, 1e9, "channels of the output"),
    FIELD(I32, kernel_size, 0, 1, 1e6, "elements of a window"),
    FIELD(I32, strides, 1, 1, 1e6, "from one window to the next"),
    FIELD(ENUM, padding, MST_PADDING_VALID, mst_window_paddings, "around the source"),
    FIELD(BOOL, causal, "pads before the source only"),
    FIELD(I32, dilation_rate, 1, 1, 1e6, "between the elements of a window"),
    FIELD(I32, groups, 1, 1, 1e6, "groups of channels that do not mix"),
    MST_CONV_FIELDS(FIELD, kernel),
    FIELD(ENUM, precision, MST_PRECISION_DEFAULT, mst_precision_names, "of its products; default the session's"),
    MST_FIELD_END,
};

static mst_status conv1d_weights(mst_layer_call *call) {
    const mst_layer_conv1d_options *o = call->options;
    int64_t channels;
    MST_TRY(mst_layer_channels(call, "[n, steps, channels]", 3, 3, &channels));
    MST_TRY(mst_kernel_bias_groups(call, channels, o->filters, o->groups));
    mst_kernel_bias_weights(
        call, &(const mst_kernel_bias){.kernel = MST_SHAPE(o->kernel_size, channels / o->groups, o->filters),
                                       .filters = o->filters,
                                       .no_bias = o->no_bias,
                                       .kernel_initializer = o->kernel_initializer,
                                       .bias_initializer = o->bias_initializer,
                                       .l1 = o->l1,
                                       .l2 = o->l2,
                                       .kernel_constraint = o->kernel_constraint,
                                       .bias_constraint = o->bias_constraint});
    return MST_OK;
}

static mst_value conv1d_build(const mst_layer_call *call) {
    const mst_layer_conv1d_options *o = call->options;
    const mst_value y =
        mst_convolve1d(call->src[0], call->weight[0], .stride = o->strides, .padding = o->padding, .causal = o->causal,
                       .dilation = o->dilation_rate, .groups = o->groups, .precision = o->precision);
    return mst_kernel_bias_end(call, y, o->no_bias, o->activation);
}

const mst_layer_type mst_layer_type_conv1d = {
    .name = "conv1d",
    .class_name = "Conv1D",
    .options_size = sizeof(mst_layer_conv1d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .weights = conv1d_weights,
    .build = conv1d_build,
};
