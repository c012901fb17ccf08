/* MobileNetV2 as keras.applications builds it: Sandler et al., "MobileNetV2: Inverted Residuals and Linear
 * Bottlenecks" (2018), table 2. */
#include <math.h>

#include "model/application/application.h"

typedef struct stage {
    int filters, num_blocks, strides, expansion; /* strides: of the first block only */
} stage;
static const stage stages[] = {{16, 1, 1, 1}, {24, 2, 2, 6},  {32, 3, 2, 6}, {64, 4, 2, 6},
                               {96, 3, 1, 6}, {160, 3, 2, 6}, {320, 1, 1, 6}};

/* The output of a block, and its size. */
typedef struct features {
    mst_output output;
    int64_t rows, columns, channels;
} features;

/* The nearest multiple of 8, at least 8. If it is more than 10 % below X, the next larger multiple. */
static int64_t rounded(double x) {
    int64_t multiple = (int64_t)(x + 4) / 8 * 8;
    if (multiple < 8) multiple = 8;
    return (double)multiple < 0.9 * x ? multiple + 8 : multiple;
}

static mst_output normalized(mst_output x, const char *name) {
    return mst_batch_normalization(x, .momentum = 0.999F, .epsilon = 1e-3F, .name = name);
}

static mst_output clipped(mst_output x, const char *name) {
    return mst_re_lu(x, .max_value = 6, .name = name);
}

/* Pads OUTPUT with zeros, so that 3x3 windows with strides of 2 are the same as with Keras' padding "same". */
static mst_output padded(const features *x, mst_output output, const char *prefix) {
    const int top = x->rows % 2 ? 1 : 0, left = x->columns % 2 ? 1 : 0;
    return mst_zero_padding2d(output, .sides = MST_AXES(top, 1, left, 1), .name = LAYER_NAME("%spad", prefix));
}

/* Expands the channels, filters each channel by itself, and projects to fewer channels. Adds the source if the shapes
 * are equal. */
static features block(features x, const char *prefix, int64_t filters, int strides, int expansion) {
    mst_output y = x.output;
    if (expansion > 1) {
        y = mst_conv2d(y, x.channels * expansion, 1, .padding = MST_PADDING_SAME, .no_bias = true,
                       .name = LAYER_NAME("%sexpand", prefix));
        y = clipped(normalized(y, LAYER_NAME("%sexpand_BN", prefix)), LAYER_NAME("%sexpand_relu", prefix));
    }
    if (strides == 2) y = padded(&x, y, prefix);
    y = mst_depthwise_conv2d(y, 3, .strides = strides, .no_bias = true,
                             .padding = strides == 1 ? MST_PADDING_SAME : MST_PADDING_VALID,
                             .name = LAYER_NAME("%sdepthwise", prefix));
    y = clipped(normalized(y, LAYER_NAME("%sdepthwise_BN", prefix)), LAYER_NAME("%sdepthwise_relu", prefix));
    y = mst_conv2d(y, filters, 1, .padding = MST_PADDING_SAME, .no_bias = true,
                   .name = LAYER_NAME("%sproject", prefix));
    y = normalized(y, LAYER_NAME("%sproject_BN", prefix));
    if (strides == 1 && filters == x.channels)
        y = mst_merge(MST_OUTPUTS(x.output, y), MST_MERGE_ADD, .name = LAYER_NAME("%sadd", prefix));
    return (features){y, (x.rows + strides - 1) / strides, (x.columns + strides - 1) / strides, filters};
}

mst_output mst_mobilenet_v2_with(mst_model *model, const mst_application_options *options) {
    mst_application_options o = {.input_shape = MST_SHAPE(224, 224, 3), .alpha = 1, .classes = 1000};
    mst_output y;
    if (!mst_application_begin(model, "mst_mobilenet_v2", options, &o, &y)) return y;
    features x = {.rows = (o.input_shape.dim[0] + 1) / 2, .columns = (o.input_shape.dim[1] + 1) / 2};
    x.channels = rounded(32 * o.alpha);
    y = mst_conv2d(y, x.channels, 3, .strides = 2, .padding = MST_PADDING_SAME, .no_bias = true, .name = "Conv1");
    x.output = clipped(normalized(y, "bn_Conv1"), "Conv1_relu");
    int number = 0;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        for (int k = 0; k < stages[i].num_blocks; k++, number++)
            x = block(x, number ? LAYER_NAME("block_%d_", number) : "expanded_conv_",
                      rounded(stages[i].filters * o.alpha), k ? 1 : stages[i].strides, stages[i].expansion);
    y = mst_conv2d(x.output, rounded(1280 * fmax(o.alpha, 1)), 1, .no_bias = true, .name = "Conv_1");
    y = clipped(normalized(y, "Conv_1_bn"), "out_relu");
    return o.no_top ? y : mst_application_top(y, &o, NULL);
}
