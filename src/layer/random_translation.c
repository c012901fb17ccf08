/** random_translation: in training, each picture is moved down by a * height and to the right by b * width; otherwise
 *  dst = src. For each picture, a is drawn evenly from [height_lower, height_upper), and b from
 *  [width_lower, width_upper)
 *
 *  src            [n, height, width, channels], all but n known; integers become f32
 *  height_lower, height_upper, width_lower, width_upper
 *                 parts of the size, lower <= upper
 *  fill_mode      what is outside the picture: reflected (the default), repeated, fill_value, or the nearest pixel
 *  interpolation  between four pixels (the default), or the nearest pixel
 *  fill_value     of pixels outside the picture, for the fill mode constant
 *  seed           of the draws; 0 (default): made from the layer's name
 *  name           default random_translation, random_translation_1, ...
 *  dst            like src
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_random_translation_options {
    int zero_;
    float height_lower, height_upper;
    float width_lower, width_upper;
    mst_picture_fill fill_mode;
    mst_picture_sampling interpolation;
    float fill_value;
    uint64_t seed;
    const char *name;
} mst_layer_random_translation_options;
#define mst_random_translation(source, ...) \
    MST_LAYER(random_translation, source, MST_NAMED(mst_layer_random_translation_options, __VA_ARGS__))
#endif
#include "layer/picture.h"
#include "muster/ops.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_random_translation_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(F32, height_lower, 0, -1, 1, "least move down, as part of the height"),
    FIELD(F32, height_upper, 0, -1, 1, "greatest move down"),
    FIELD(F32, width_lower, 0, -1, 1, "least move to the right, as part of the width"),
    FIELD(F32, width_upper, 0, -1, 1, "greatest move to the right"),
    FIELD(ENUM, fill_mode, 0, mst_layer_picture_fill_names, "what is outside the picture"),
    FIELD(ENUM, interpolation, 0, mst_layer_picture_sampling_names, "between pixels"),
    FIELD(F32, fill_value, 0, 0, 0, "of pixels outside, for the fill mode constant"),
    FIELD(U64, seed, "of the draws; 0: made from the layer's name"),
    FIELD(STRING, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status random_translation_check(const void *options, const char *name) {
    const mst_layer_random_translation_options *o = options;
    const double height[] = {(double)o->height_lower, (double)o->height_upper};
    const double width[] = {(double)o->width_lower, (double)o->width_upper};
    MST_TRY(mst_layer_picture_check_range("random_translation", name, "height_lower", height[0], height[1]));
    MST_TRY(mst_layer_picture_check_range("random_translation", name, "width_lower", width[0], width[1]));
    return MST_OK;
}

static mst_value random_translation_build(const mst_layer_call *call) {
    const mst_layer_random_translation_options *o = call->options;
    const mst_layer_picture_sampler sampler = {o->fill_mode, o->interpolation, (double)o->fill_value};
    const mst_value src = mst_layer_picture_source(call);
    if (!call->training || mst_value_is_none(src)) return src;
    const mst_shape shape = mst_value_spec(src).shape;
    const mst_value down = mst_layer_picture_draw(src, (double)o->height_lower, (double)o->height_upper, o->seed, 0);
    const mst_value right = mst_layer_picture_draw(src, (double)o->width_lower, (double)o->width_upper, o->seed, 1);
    const mst_value shift_x = mst_scale(right, -(double)shape.dim[2]), one = mst_ones_like(shift_x);
    const mst_value shift_y = mst_scale(down, -(double)shape.dim[1]);
    return mst_layer_picture_move(call, src, (const mst_value[]){one, MST_NONE, shift_x, MST_NONE, one, shift_y},
                                  &sampler);
}

const mst_layer_type mst_layer_type_random_translation = {
    .name = "random_translation",
    .class_name = "RandomTranslation",
    .options_size = sizeof(mst_layer_random_translation_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = random_translation_check,
    .build = random_translation_build,
};
