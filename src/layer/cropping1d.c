/** cropping1d: dst = src without its first and last steps
 *
 *  src       [n, steps, channels]
 *  cropping  number of elements removed on each side, default 1
 *  sides     instead of cropping, the numbers at the beginning and at the end
 *  dst       [n, outputs, channels]
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_cropping1d_options {
    int zero_;
    int32_t cropping;
    mst_axes sides;
    const char *name;
    int end_;
} mst_layer_cropping1d_options;
#define mst_cropping1d(...) MST_CROPPING1D_(__VA_ARGS__, .end_ = 0)
#define MST_CROPPING1D_(source, ...) MST_LAYER(cropping1d, source, MST_NAMED(mst_layer_cropping1d_options, __VA_ARGS__))
#endif
#include "layer/sides.h"
#include "muster/layers.h"

enum { NUM_AXES = 1 };

static const mst_field fields[] = {
    MST_FIELD_I32(mst_layer_cropping1d_options, cropping, 1, 1, 1e6, "less on each side"),
    MST_FIELD_AXES(mst_layer_cropping1d_options, sides, "at the beginning and at the end"),
    MST_FIELD_STRING(mst_layer_cropping1d_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status cropping1d_check(const void *options, const char *name) {
    return mst_sides_check(&((const mst_layer_cropping1d_options *)options)->sides, NUM_AXES, "cropping1d", name);
}

static mst_value cropping1d_build(const mst_layer_call *call) {
    const mst_layer_cropping1d_options *o = call->options;
    return mst_sides_crop(call, NUM_AXES, &o->sides, o->cropping);
}

const mst_layer_type mst_layer_type_cropping1d = {
    .name = "cropping1d",
    .class_name = "Cropping1D",
    .options_size = sizeof(mst_layer_cropping1d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = cropping1d_check,
    .build = cropping1d_build,
};
