/* ResNet50, version 1, as keras.applications builds it: He et al., "Deep Residual Learning for Image Recognition"
 * (2015), table 1; strides are in the first convolution of a block. */
#include "model/application/application.h"

static mst_output normalized(mst_output x, const char *name) {
    return mst_batch_normalization(x, .momentum = 0.99F, .epsilon = 1.001e-5F, .name = name);
}

/* Convolution K of the block called PREFIX. */
static mst_output convolved(mst_output x, const char *prefix, int k, int64_t filters, int kernel_size, int strides) {
    x = mst_conv2d(x, filters, kernel_size, .strides = strides, .name = LAYER_NAME("%s_%d_conv", prefix, k),
                   .padding = kernel_size > 1 ? MST_PADDING_SAME : MST_PADDING_VALID);
    return normalized(x, LAYER_NAME("%s_%d_bn", prefix, k));
}

static mst_output relu(mst_output x, const char *name) {
    return mst_activate(x, MST_RELU, .name = name);
}

/* Adds the result of three convolutions of X to X, or to a projection of X if the shape changes. */
static mst_output block(mst_output x, const char *prefix, int64_t filters, int strides, bool projects) {
    const mst_output shortcut = projects ? convolved(x, prefix, 0, 4 * filters, 1, strides) : x;
    mst_output y = relu(convolved(x, prefix, 1, filters, 1, strides), LAYER_NAME("%s_1_relu", prefix));
    y = relu(convolved(y, prefix, 2, filters, 3, 1), LAYER_NAME("%s_2_relu", prefix));
    y = convolved(y, prefix, 3, 4 * filters, 1, 1);
    y = mst_merge(MST_OUTPUTS(shortcut, y), MST_MERGE_ADD, .name = LAYER_NAME("%s_add", prefix));
    return relu(y, LAYER_NAME("%s_out", prefix));
}

mst_output mst_resnet50_with(mst_model *model, const mst_application_options *options) {
    static const int num_blocks[] = {3, 4, 6, 3};
    mst_application_options o = {.input_shape = MST_SHAPE(224, 224, 3), .classes = 1000};
    mst_output x;
    if (!mst_application_begin(model, "mst_resnet50", options, &o, &x)) return x;
    x = mst_zero_padding2d(x, .padding = 3, .name = "conv1_pad");
    x = mst_conv2d(x, 64, 7, .strides = 2, .name = "conv1_conv");
    x = relu(normalized(x, "conv1_bn"), "conv1_relu");
    x = mst_zero_padding2d(x, .padding = 1, .name = "pool1_pad");
    x = mst_max_pooling2d(x, .pool_size = 3, .strides = 2, .name = "pool1_pool");
    for (int stage = 0; stage < 4; stage++)
        for (int k = 0; k < num_blocks[stage]; k++)
            x = block(x, LAYER_NAME("conv%d_block%d", stage + 2, k + 1), (int64_t)64 << stage,
                      stage > 0 && k == 0 ? 2 : 1, k == 0);
    return o.no_top ? x : mst_application_top(x, &o, "avg_pool");
}
