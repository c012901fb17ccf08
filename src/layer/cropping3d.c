/** cropping3d: dst = src without its outer slices, rows and columns
 *
 *  src       [n, depth, height, width, channels]
 *  cropping  number of elements removed on each side, default 1
 *  sides     instead of cropping, the numbers at the front, back, top, bottom, left and right
 *  dst       [n, slices, rows, columns, channels]
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_cropping3d_options {
    int zero_;
    int32_t cropping;
    mst_axes sides;
    const char *name;
    int end_;
} mst_layer_cropping3d_options;
#define mst_cropping3d(...) MST_CROPPING3D_(__VA_ARGS__, .end_ = 0)
#define MST_CROPPING3D_(source, ...) MST_LAYER(cropping3d, source, MST_NAMED(mst_layer_cropping3d_options, __VA_ARGS__))
#endif
#include "layer/sides.h"
#include "muster/layers.h"

enum { NUM_AXES = 3 };

static const mst_field fields[] = {
    MST_FIELD_I32(mst_layer_cropping3d_options, cropping, 1, 1, 1e6, "less on each side"),
    MST_FIELD_AXES(mst_layer_cropping3d_options, sides, "at the front, back, top, bottom, left and right"),
    MST_FIELD_STRING(mst_layer_cropping3d_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status cropping3d_check(const void *options, const char *name) {
    return mst_sides_check(&((const mst_layer_cropping3d_options *)options)->sides, NUM_AXES, "cropping3d", name);
}

static mst_value cropping3d_build(const mst_layer_call *call) {
    const mst_layer_cropping3d_options *o = call->options;
    return mst_sides_crop(call, NUM_AXES, &o->sides, o->cropping);
}

const mst_layer_type mst_layer_type_cropping3d = {
    .name = "cropping3d",
    .class_name = "Cropping3D",
    .options_size = sizeof(mst_layer_cropping3d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = cropping3d_check,
    .build = cropping3d_build,
};
