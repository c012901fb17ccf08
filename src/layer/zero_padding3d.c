/** zero_padding3d: dst = src between slices, rows and columns of zeros
 *
 *  src       [n, depth, height, width, channels]
 *  padding   number of slices, rows and columns added on each side, default 1
 *  sides     instead of padding, the numbers at the front, back, top, bottom, left and right
 *  dst       [n, slices, rows, columns, channels]
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_zero_padding3d_options {
    int zero_;
    int32_t padding;
    mst_axes sides;
    const char *name;
    int end_;
} mst_layer_zero_padding3d_options;
#define mst_zero_padding3d(...) MST_ZERO_PADDING3D_(__VA_ARGS__, .end_ = 0)
#define MST_ZERO_PADDING3D_(source, ...) \
    MST_LAYER(zero_padding3d, source, MST_NAMED(mst_layer_zero_padding3d_options, __VA_ARGS__))
#endif
#include "layer/sides.h"
#include "muster/layers.h"

enum { NUM_AXES = 3 };

static const mst_field fields[] = {
    MST_FIELD_I32(mst_layer_zero_padding3d_options, padding, 1, 1, 1e6, "on each side"),
    MST_FIELD_AXES(mst_layer_zero_padding3d_options, sides, "at the front, back, top, bottom, left and right"),
    MST_FIELD_STRING(mst_layer_zero_padding3d_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status zero_padding3d_check(const void *options, const char *name) {
    return mst_sides_check(&((const mst_layer_zero_padding3d_options *)options)->sides, NUM_AXES, "zero_padding3d",
                           name);
}

static mst_value zero_padding3d_build(const mst_layer_call *call) {
    const mst_layer_zero_padding3d_options *o = call->options;
    return mst_sides_pad(call, NUM_AXES, &o->sides, o->padding);
}

const mst_layer_type mst_layer_type_zero_padding3d = {
    .name = "zero_padding3d",
    .class_name = "ZeroPadding3D",
    .options_size = sizeof(mst_layer_zero_padding3d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = zero_padding3d_check,
    .build = zero_padding3d_build,
};
