/** random_rotation: in training, each picture is rotated around its middle by an angle that is drawn evenly from
 *  [lower, upper) of a full turn; otherwise dst = src
 *
 *  src            [n, height, width, channels], all but n known; integers become f32
 *  lower, upper   parts of a full turn, lower <= upper; positive numbers turn counterclockwise
 *  fill_mode      what is outside the picture: reflected (the default), repeated, fill_value, or the nearest pixel
 *  interpolation  between four pixels (the default), or the nearest pixel
 *  fill_value     of pixels outside the picture, for the fill mode constant
 *  seed           of the draws; 0 (default): made from the layer's name
 *  name           default random_rotation, random_rotation_1, ...
 *  dst            like src
 */
#ifdef MST_LAYER_HEADER
/** What is outside of a picture abcd: dcba|abcd|dcba, abcd|abcd|abcd, kkkk|abcd|kkkk (k: fill_value), or
 *  aaaa|abcd|dddd. */
typedef enum mst_picture_fill {
    MST_PICTURE_FILL_REFLECT,
    MST_PICTURE_FILL_WRAP,
    MST_PICTURE_FILL_CONSTANT,
    MST_PICTURE_FILL_NEAREST
} mst_picture_fill;
typedef enum mst_picture_sampling { MST_PICTURE_BILINEAR, MST_PICTURE_NEAREST } mst_picture_sampling;
typedef struct mst_layer_random_rotation_options {
    int zero_;
    float lower, upper;
    mst_picture_fill fill_mode;
    mst_picture_sampling interpolation;
    float fill_value;
    uint64_t seed;
    const char *name;
} mst_layer_random_rotation_options;
#define mst_random_rotation(source, ...) \
    MST_LAYER(random_rotation, source, MST_NAMED(mst_layer_random_rotation_options, __VA_ARGS__))
#endif
#include "layer/picture.h"
#include "muster/ops.h"

#define TWO_PI 6.28318530717958648

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_random_rotation_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(F32, lower, 0, -1e6, 1e6, "least angle, as part of a turn"),
    FIELD(F32, upper, 0, -1e6, 1e6, "greatest angle"),
    FIELD(ENUM, fill_mode, 0, mst_layer_picture_fill_names, "what is outside the picture"),
    FIELD(ENUM, interpolation, 0, mst_layer_picture_sampling_names, "between pixels"),
    FIELD(F32, fill_value, 0, 0, 0, "of pixels outside, for the fill mode constant"),
    FIELD(U64, seed, "of the draws; 0: made from the layer's name"),
    FIELD(STRING, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status random_rotation_check(const void *options, const char *name) {
    const mst_layer_random_rotation_options *o = options;
    MST_TRY(mst_layer_picture_check_range("random_rotation", name, "lower", (double)o->lower, (double)o->upper));
    return MST_OK;
}

static mst_value random_rotation_build(const mst_layer_call *call) {
    const mst_layer_random_rotation_options *o = call->options;
    const mst_layer_picture_sampler sampler = {o->fill_mode, o->interpolation, (double)o->fill_value};
    const mst_value src = mst_layer_picture_source(call);
    if (!call->training || mst_value_is_none(src)) return src;
    const mst_shape shape = mst_value_spec(src).shape;
    const double x = (double)(shape.dim[2] - 1) / 2, y = (double)(shape.dim[1] - 1) / 2; /* the middle */
    const mst_value angle =
        mst_layer_picture_draw(src, TWO_PI * (double)o->lower, TWO_PI * (double)o->upper, o->seed, 0);
    const mst_value c = mst_cos(angle), s = mst_sin(angle), one = mst_ones_like(c);
    const mst_value shift_x = mst_add(mst_scale(mst_sub(one, c), x), mst_scale(s, y));
    const mst_value shift_y = mst_sub(mst_scale(mst_sub(one, c), y), mst_scale(s, x));
    return mst_layer_picture_move(call, src, (const mst_value[]){c, mst_neg(s), shift_x, s, c, shift_y}, &sampler);
}

const mst_layer_type mst_layer_type_random_rotation = {
    .name = "random_rotation",
    .class_name = "RandomRotation",
    .options_size = sizeof(mst_layer_random_rotation_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = random_rotation_check,
    .build = random_rotation_build,
};
