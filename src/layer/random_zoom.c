/** random_zoom: in training, each picture is zoomed around its middle, so that dst shows (1 + a) * height by
 *  (1 + b) * width pixels of src; otherwise dst = src. For each picture, a is drawn evenly from
 *  [height_lower, height_upper), and b from [width_lower, width_upper)
 *
 *  src            [n, height, width, channels], all but n known; integers become f32
 *  height_lower, height_upper, width_lower, width_upper
 *                 above -1, lower <= upper; negative numbers zoom in. If both numbers of the width are 0 (the default),
 *                 b = a. If both shall be 0, so that the width is not zoomed, make one of them -0.0f
 *  fill_mode      what is outside the picture: reflected (the default), repeated, fill_value, or the nearest pixel
 *  interpolation  between four pixels (the default), or the nearest pixel
 *  fill_value     of pixels outside the picture, for the fill mode constant
 *  seed           of the draws; 0 (default): made from the layer's name
 *  name           default random_zoom, random_zoom_1, ...
 *  dst            like src
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_random_zoom_options {
    int zero_;
    float height_lower, height_upper;
    float width_lower, width_upper;
    mst_picture_fill fill_mode;
    mst_picture_sampling interpolation;
    float fill_value;
    uint64_t seed;
    const char *name;
} mst_layer_random_zoom_options;
#define mst_random_zoom(source, ...) \
    MST_LAYER(random_zoom, source, MST_NAMED(mst_layer_random_zoom_options, __VA_ARGS__))
#endif
#include "graph/field.h"
#include "layer/picture.h"
#include "muster/ops.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_random_zoom_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(F32, height_lower, 0, -0x1.fffffep-1, 1e6, "least change of the height that is shown"),
    FIELD(F32, height_upper, 0, -0x1.fffffep-1, 1e6, "greatest change of the height"),
    FIELD(F32, width_lower, 0, -0x1.fffffep-1, 1e6, "least change of the width; if both are 0: as the height"),
    FIELD(F32, width_upper, 0, -0x1.fffffep-1, 1e6, "greatest change of the width"),
    FIELD(ENUM, fill_mode, 0, mst_layer_picture_fill_names, "what is outside the picture"),
    FIELD(ENUM, interpolation, 0, mst_layer_picture_sampling_names, "between pixels"),
    FIELD(F32, fill_value, 0, 0, 0, "of pixels outside, for the fill mode constant"),
    FIELD(U64, seed, "of the draws; 0: made from the layer's name"),
    FIELD(STRING, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status random_zoom_check(const void *options, const char *name) {
    const mst_layer_random_zoom_options *o = options;
    const double height[] = {(double)o->height_lower, (double)o->height_upper};
    const double width[] = {(double)o->width_lower, (double)o->width_upper};
    MST_TRY(mst_layer_picture_check_range("random_zoom", name, "height_lower", height[0], height[1]));
    MST_TRY(mst_layer_picture_check_range("random_zoom", name, "width_lower", width[0], width[1]));
    return MST_OK;
}

static mst_value random_zoom_build(const mst_layer_call *call) {
    const mst_layer_random_zoom_options *o = call->options;
    const mst_layer_picture_sampler sampler = {o->fill_mode, o->interpolation, (double)o->fill_value};
    const mst_value src = mst_layer_picture_source(call);
    if (!call->training || mst_value_is_none(src)) return src;
    const mst_shape shape = mst_value_spec(src).shape;
    const bool alone = mst_number_given((double)o->width_lower) || mst_number_given((double)o->width_upper);
    const double x = (double)(shape.dim[2] - 1) / 2, y = (double)(shape.dim[1] - 1) / 2; /* the middle */
    const mst_value tall =
        mst_layer_picture_draw(src, 1 + (double)o->height_lower, 1 + (double)o->height_upper, o->seed, 0);
    const mst_value wide =
        alone ? mst_layer_picture_draw(src, 1 + (double)o->width_lower, 1 + (double)o->width_upper, o->seed, 1) : tall;
    const mst_value one = mst_ones_like(tall);
    const mst_value shift_x = mst_scale(mst_sub(one, wide), x), shift_y = mst_scale(mst_sub(one, tall), y);
    return mst_layer_picture_move(call, src, (const mst_value[]){wide, MST_NONE, shift_x, MST_NONE, tall, shift_y},
                                  &sampler);
}

const mst_layer_type mst_layer_type_random_zoom = {
    .name = "random_zoom",
    .class_name = "RandomZoom",
    .options_size = sizeof(mst_layer_random_zoom_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = random_zoom_check,
    .build = random_zoom_build,
};
