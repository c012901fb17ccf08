/** random_contrast: in training, dst = clip((src - mean) * f + mean, low, high), where f is drawn evenly from
 *  [1 + lower, 1 + upper) for each picture, and mean is that of each channel of a picture; otherwise dst = src
 *
 *  src           [n, height, width, channels]; integers become f32
 *  lower, upper  -1 <= lower <= upper
 *  low, high     least and greatest value of pixels; if both are 0 (the default): 0 and 255
 *  seed          of the draws; 0 (default): made from the layer's name
 *  name          default random_contrast, random_contrast_1, ...
 *  dst           like src
 *
 *  Keras' factor of two numbers a and b is lower = -a and upper = b.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_random_contrast_options {
    int zero_;
    float lower, upper;
    float low, high; /**< if both are 0: 0 and 255 */
    uint64_t seed;
    const char *name;
} mst_layer_random_contrast_options;
#define mst_random_contrast(source, ...) \
    MST_LAYER(random_contrast, source, MST_NAMED(mst_layer_random_contrast_options, __VA_ARGS__))
#endif
#include "layer/picture.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_F32(mst_layer_random_contrast_options, lower, 0, -1, 1e30, "least change of the factor 1"),
    MST_FIELD_F32(mst_layer_random_contrast_options, upper, 0, -1, 1e30, "greatest change of the factor 1"),
    MST_FIELD_F32(mst_layer_random_contrast_options, low, 0, 0, 0, "least value of a pixel"),
    MST_FIELD_F32(mst_layer_random_contrast_options, high, 0, 0, 0, "greatest; if both are 0: 0 and 255"),
    MST_FIELD_U64(mst_layer_random_contrast_options, seed, "of the draws; 0: made from the layer's name"),
    MST_FIELD_STRING(mst_layer_random_contrast_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status random_contrast_check(const void *options, const char *name) {
    const mst_layer_random_contrast_options *o = options;
    return mst_layer_picture_check_range("random_contrast", name, "lower", (double)o->lower, (double)o->upper) ||
                   mst_layer_picture_check_range("random_contrast", name, "low", (double)o->low, (double)o->high)
               ? mst_error()->code
               : MST_OK;
}

static mst_value random_contrast_build(const mst_layer_call *call) {
    const mst_layer_random_contrast_options *o = call->options;
    const mst_value src = mst_layer_picture_source(call);
    if (!call->training) return src;
    const mst_value factor = mst_layer_picture_draw(src, 1 + (double)o->lower, 1 + (double)o->upper, o->seed, 0);
    const mst_value mean = mst_reduce_mean(src, MST_AXES(1, 2), .keep_dims = true);
    return mst_layer_picture_clip(mst_add(mst_mul(mst_sub(src, mean), factor), mean), (double)o->low, (double)o->high);
}

const mst_layer_type mst_layer_type_random_contrast = {
    .name = "random_contrast",
    .class_name = "RandomContrast",
    .options_size = sizeof(mst_layer_random_contrast_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = random_contrast_check,
    .build = random_contrast_build,
};
