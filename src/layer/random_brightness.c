/** random_brightness: in training, dst = clip(src + d * (high - low), low, high), where d is drawn evenly from
 *  [lower, upper) for each picture; otherwise dst = src
 *
 *  src           [n, height, width, channels]; integers become f32
 *  lower, upper  -1 <= lower <= upper <= 1
 *  low, high     least and greatest value of pixels; if both are 0 (the default): 0 and 255
 *  seed          of the draws; 0 (default): made from the layer's name
 *  name          default random_brightness, random_brightness_1, ...
 *  dst           like src
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_random_brightness_options {
    int zero_;
    float lower, upper;
    float low, high; /**< if both are 0: 0 and 255 */
    uint64_t seed;
    const char *name;
} mst_layer_random_brightness_options;
#define mst_random_brightness(source, ...) \
    MST_LAYER(random_brightness, source, MST_NAMED(mst_layer_random_brightness_options, __VA_ARGS__))
#endif
#include "layer/picture.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_F32(mst_layer_random_brightness_options, lower, 0, -1, 1, "least part of the range that is added"),
    MST_FIELD_F32(mst_layer_random_brightness_options, upper, 0, -1, 1, "greatest part of the range that is added"),
    MST_FIELD_F32(mst_layer_random_brightness_options, low, 0, 0, 0, "least value of a pixel"),
    MST_FIELD_F32(mst_layer_random_brightness_options, high, 0, 0, 0, "greatest; if both are 0: 0 and 255"),
    MST_FIELD_U64(mst_layer_random_brightness_options, seed, "of the draws; 0: made from the layer's name"),
    MST_FIELD_STRING(mst_layer_random_brightness_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status random_brightness_check(const void *options, const char *name) {
    const mst_layer_random_brightness_options *o = options;
    return mst_layer_picture_check_range("random_brightness", name, "lower", (double)o->lower, (double)o->upper) ||
                   mst_layer_picture_check_range("random_brightness", name, "low", (double)o->low, (double)o->high)
               ? mst_error()->code
               : MST_OK;
}

static mst_value random_brightness_build(const mst_layer_call *call) {
    const mst_layer_random_brightness_options *o = call->options;
    const mst_value src = mst_layer_picture_source(call);
    if (!call->training) return src;
    const double high = o->low == 0 && o->high == 0 ? 255 : (double)o->high;
    const mst_value part = mst_layer_picture_draw(src, (double)o->lower, (double)o->upper, o->seed, 0);
    return mst_layer_picture_clip(mst_add(src, mst_scale(part, high - (double)o->low)), (double)o->low,
                                  (double)o->high);
}

const mst_layer_type mst_layer_type_random_brightness = {
    .name = "random_brightness",
    .class_name = "RandomBrightness",
    .options_size = sizeof(mst_layer_random_brightness_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = random_brightness_check,
    .build = random_brightness_build,
};
