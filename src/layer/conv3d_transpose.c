/** conv3d_transpose: dst = activation(transposed convolution of src with kernel + bias)
 *
 *  src            [n, depth, height, width, channels]
 *  filters        channels of dst
 *  kernel_size    of a window: MST_AXES(3), or slices, rows and columns
 *  strides        distance from one window of dst to the next: one number, or three; default 1
 *  padding        MST_PADDING_VALID (default): dst has depth * strides slices, and more if a window reaches beyond;
 *                 MST_PADDING_SAME: depth * strides
 *  dilation_rate  distance between the elements of a window: one number, or three; default 1
 *  activation     default linear
 *  dst            [n, slices, rows, columns, filters]
 *
 *  Weights: kernel [slices, rows, columns, filters, channels], bias [filters]. The op on values is
 *  mst_convolve3d_transpose.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_conv3d_transpose_options {
    int zero_;
    int64_t filters;
    mst_axes kernel_size;
    mst_axes strides;
    mst_window_padding padding;
    mst_axes dilation_rate;
    mst_activation activation;
    bool no_bias;
    mst_initializer kernel_initializer; /**< default glorot_uniform */
    mst_initializer bias_initializer;   /**< default zeros; glorot_uniform counts as not given */
    float l1, l2; /**< penalty of the kernel: l1 * sum |kernel| + l2 / 2 * sum kernel^2; Keras' l2 has no 1/2 */
    const char *name;
    mst_constraint kernel_constraint, bias_constraint; /**< of the weights after each step; default none */
} mst_layer_conv3d_transpose_options;
#define mst_conv3d_transpose(source, ...) \
    MST_LAYER(conv3d_transpose, source,   \
              MST_NAMED_2(mst_layer_conv3d_transpose_options, filters, kernel_size, __VA_ARGS__))
#endif
#include "layer/activation/activation.h"
#include "layer/conv_fields.h"
#include "layer/initializer/initializer.h"
#include "layer/kernel_bias.h"
#include "layer/three_axes.h"
#include "muster/ops.h"
#include "op/conv/window.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_conv3d_transpose_options, __VA_ARGS__)

static const mst_field fields[] = {
    FIELD(I64, filters, 0, 1, 1e9, "channels of the output"),
    FIELD(AXES, kernel_size, "of a window: one number, or three"),
    FIELD(AXES, strides, "from one window to the next; none: 1"),
    FIELD(ENUM, padding, MST_PADDING_VALID, mst_window_paddings, "of the convolution that it is the transpose of"),
    FIELD(AXES, dilation_rate, "between the elements of a window; none: 1"),
    MST_CONV_FIELDS(FIELD, kernel),
    MST_FIELD_END,
};

static mst_status conv3d_transpose_check(const void *options, const char *name) {
    const mst_layer_conv3d_transpose_options *o = options;
    MST_TRY(mst_three_axes_check(&o->kernel_size, "conv3d_transpose", name, "kernel_size", false));
    MST_TRY(mst_three_axes_check(&o->strides, "conv3d_transpose", name, "strides", true));
    return mst_three_axes_check(&o->dilation_rate, "conv3d_transpose", name, "dilation_rate", true);
}

static mst_status conv3d_transpose_weights(mst_layer_call *call) {
    const mst_layer_conv3d_transpose_options *o = call->options;
    const int32_t *size = o->kernel_size.axis;
    const int all = o->kernel_size.count == 1;
    int64_t channels;
    MST_TRY(mst_layer_channels(call, "[n, depth, height, width, channels]", 5, 5, &channels));
    mst_kernel_bias_weights(call, &(const mst_kernel_bias){.kernel = MST_SHAPE(size[0], size[all ? 0 : 1],
                                                                               size[all ? 0 : 2], o->filters, channels),
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

static mst_value conv3d_transpose_build(const mst_layer_call *call) {
    const mst_layer_conv3d_transpose_options *o = call->options;
    const mst_value y = mst_convolve3d_transpose(call->src[0], call->weight[0], .strides = o->strides,
                                                 .padding = o->padding, .dilations = o->dilation_rate);
    return mst_kernel_bias_end(call, y, o->no_bias, o->activation);
}

const mst_layer_type mst_layer_type_conv3d_transpose = {
    .name = "conv3d_transpose",
    .class_name = "Conv3DTranspose",
    .options_size = sizeof(mst_layer_conv3d_transpose_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = conv3d_transpose_check,
    .weights = conv3d_transpose_weights,
    .build = conv3d_transpose_build,
};
