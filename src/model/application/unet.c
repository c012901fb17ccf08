/* U-Net: Ronneberger et al., "U-Net: Convolutional Networks for Biomedical Image Segmentation" (2015), figure 1, with
 * padded convolutions in place of the paper's, which cut off the border.
 *
 *      level 0   conv conv ------------------------------> concat conv conv -> classes
 *                        pool                            up
 *      level 1             conv conv --------> concat conv conv
 *                                  pool      up
 *      ...                           conv conv
 */
#include <math.h>

#include "base/failure.h"
#include "model/application/application.h"
#include "model/model.h"

enum { LEVELS = 4, CHANNELS = 64, STEP = 1 << LEVELS };

static int64_t channels_of(const mst_application_options *o, int level) {
    const double channels = floor(CHANNELS * o->alpha + 0.5);
    return (int64_t)(channels < 1 ? 1 : channels) << level;
}

static mst_output two_convolutions(mst_output x, const char *part, int level, int64_t channels) {
    for (int i = 0; i < 2; i++)
        x = mst_conv2d(x, channels, 3, .padding = MST_PADDING_SAME, .activation = MST_RELU,
                       .kernel_initializer = mst_he_normal_initializer(),
                       .name = LAYER_NAME("%s%d_conv%d", part, level, i + 1));
    return x;
}

mst_output mst_unet_with(mst_model *model, const mst_application_options *options) {
    mst_application_options o = {.input_shape = MST_SHAPE(224, 224, 3), .alpha = 1, .classes = 2};
    mst_output x, skip[LEVELS];
    if (!mst_application_begin(model, "mst_unet", options, &o, &x)) return x;
    if (o.input_shape.dim[0] % STEP || o.input_shape.dim[1] % STEP) {
        mst_status status =
            MST_FAIL(MST_INVALID, "mst_unet: height and width must be multiples of %d, not %lld and %lld", STEP,
                     (long long)o.input_shape.dim[0], (long long)o.input_shape.dim[1]);
        (void)status;
        mst_model_stick(model);
        return x;
    }
    for (int i = 0; i < LEVELS; i++) {
        skip[i] = two_convolutions(x, "down", i, channels_of(&o, i));
        x = mst_max_pooling2d(skip[i], .pool_size = 2, .name = LAYER_NAME("down%d_pool", i));
    }
    x = two_convolutions(x, "middle", LEVELS, channels_of(&o, LEVELS));
    for (int i = LEVELS - 1; i >= 0; i--) {
        x = mst_conv2d_transpose(x, channels_of(&o, i), 2, .strides = 2, .name = LAYER_NAME("up%d_transpose", i));
        x = mst_concatenate(MST_OUTPUTS(skip[i], x), .name = LAYER_NAME("up%d_concat", i));
        x = two_convolutions(x, "up", i, channels_of(&o, i));
    }
    if (o.no_top) return x;
    return mst_conv2d(x, o.classes, 1, .activation = o.classifier_activation, .name = "predictions");
}
