/** zero_padding1d: dst = src between steps of zeros
 *
 *  src       [n, steps, channels]
 *  padding   number of steps added on each side, default 1
 *  sides     instead of padding, the numbers at the beginning and at the end
 *  dst       [n, outputs, channels]
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_zero_padding1d_options {
    int zero_;
    int32_t padding;
    mst_axes sides;
    const char *name;
    int end_;
} mst_layer_zero_padding1d_options;
#define mst_zero_padding1d(...) MST_ZERO_PADDING1D_(__VA_ARGS__, .end_ = 0)
#define MST_ZERO_PADDING1D_(source, ...) \
    MST_LAYER(zero_padding1d, source, MST_NAMED(mst_layer_zero_padding1d_options, __VA_ARGS__))
#endif
#include "layer/sides.h"
#include "muster/layers.h"

enum { NUM_AXES = 1 };

static const mst_field fields[] = {
    MST_FIELD_I32(mst_layer_zero_padding1d_options, padding, 1, 1, 1e6, "on each side"),
    MST_FIELD_AXES(mst_layer_zero_padding1d_options, sides, "at the beginning and at the end"),
    MST_FIELD_STRING(mst_layer_zero_padding1d_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status zero_padding1d_check(const void *options, const char *name) {
    return mst_sides_check(&((const mst_layer_zero_padding1d_options *)options)->sides, NUM_AXES, "zero_padding1d",
                           name);
}

static mst_value zero_padding1d_build(const mst_layer_call *call) {
    const mst_layer_zero_padding1d_options *o = call->options;
    return mst_sides_pad(call, NUM_AXES, &o->sides, o->padding);
}

const mst_layer_type mst_layer_type_zero_padding1d = {
    .name = "zero_padding1d",
    .class_name = "ZeroPadding1D",
    .options_size = sizeof(mst_layer_zero_padding1d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = zero_padding1d_check,
    .build = zero_padding1d_build,
};
