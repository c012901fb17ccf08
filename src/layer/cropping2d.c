/** cropping2d: dst = src without its outer rows and columns
 *
 *  src       [n, height, width, channels]
 *  cropping  number of elements removed on each side, default 0
 *  sides     instead of cropping, the numbers at the top, bottom, left and right
 *  dst       [n, rows, columns, channels]
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_cropping2d_options {
    int zero_;
    int32_t cropping;
    mst_axes sides;
    const char *name;
    int end_;
} mst_layer_cropping2d_options;
#define mst_cropping2d(...) MST_CROPPING2D_(__VA_ARGS__, .end_ = 0)
#define MST_CROPPING2D_(source, ...) MST_LAYER(cropping2d, source, MST_NAMED(mst_layer_cropping2d_options, __VA_ARGS__))
#endif
#include "layer/sides.h"
#include "muster/layers.h"

enum { NUM_AXES = 2 };

static const mst_field fields[] = {
    MST_FIELD_I32(mst_layer_cropping2d_options, cropping, 0, 0, 1e6, "less on each side"),
    MST_FIELD_AXES(mst_layer_cropping2d_options, sides, "at the top, bottom, left and right"),
    MST_FIELD_STRING(mst_layer_cropping2d_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status cropping2d_check(const void *options, const char *name) {
    return mst_sides_check(&((const mst_layer_cropping2d_options *)options)->sides, NUM_AXES, "cropping2d", name);
}

static mst_value cropping2d_build(const mst_layer_call *call) {
    const mst_layer_cropping2d_options *o = call->options;
    return mst_sides_crop(call, NUM_AXES, &o->sides, o->cropping);
}

const mst_layer_type mst_layer_type_cropping2d = {
    .name = "cropping2d",
    .class_name = "Cropping2D",
    .options_size = sizeof(mst_layer_cropping2d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = cropping2d_check,
    .build = cropping2d_build,
};
