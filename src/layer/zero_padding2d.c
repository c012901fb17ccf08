/** zero_padding2d: dst = src between rows and columns of zeros
 *
 *  src      [n, height, width, channels]
 *  padding  so many on each side, default 1
 *  sides    in its place: at the top, bottom, left and right
 *  dst      [n, rows, columns, channels]
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_zero_padding2d_options {
    int zero_;
    int32_t padding;
    mst_axes sides;
    const char *name;
    int end_;
} mst_layer_zero_padding2d_options;
#define mst_zero_padding2d(...) MST_ZERO_PADDING2D_(__VA_ARGS__, .end_ = 0)
#define MST_ZERO_PADDING2D_(source, ...) \
    MST_LAYER(zero_padding2d, source, MST_NAMED(mst_layer_zero_padding2d_options, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

enum { SIDES = 4 };

static const mst_field fields[] = {
    MST_FIELD_I32(mst_layer_zero_padding2d_options, padding, 1, 1, 1e6, "on each side"),
    MST_FIELD_AXES(mst_layer_zero_padding2d_options, sides, "at the top, bottom, left and right"),
    MST_FIELD_STRING(mst_layer_zero_padding2d_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status check(const void *options, const char *name) {
    const mst_axes *sides = &((const mst_layer_zero_padding2d_options *)options)->sides;
    if (sides->count != 0 && sides->count != SIDES)
        return MST_FAIL(MST_INVALID, "zero_padding2d '%s': %d sides, give top, bottom, left and right", name,
                        (int)sides->count);
    for (int i = 0; i < sides->count; i++)
        if (sides->axis[i] < 0)
            return MST_FAIL(MST_INVALID, "zero_padding2d '%s': %d rows or columns, must be 0 or more", name,
                            (int)sides->axis[i]);
    return MST_OK;
}

static mst_value zero_padding2d_build(const mst_layer_call *call) {
    const mst_layer_zero_padding2d_options *o = call->options;
    const int ndim = mst_value_spec(call->src[0]).shape.ndim;
    const int32_t *side =
        o->sides.count ? o->sides.axis : (const int32_t[]){o->padding, o->padding, o->padding, o->padding};
    if (ndim != 4) {
        MST_FAIL(MST_INVALID, "zero_padding2d '%s': needs [n, height, width, channels], got %d dimensions", call->name,
                 ndim);
        return mst_layer_fail(call);
    }
    return mst_pad(call->src[0], .before = MST_SHAPE(0, side[0], side[2], 0),
                   .after = MST_SHAPE(0, side[1], side[3], 0));
}

const mst_layer_type mst_layer_type_zero_padding2d = {
    .name = "zero_padding2d",
    .class_name = "ZeroPadding2D",
    .options_size = sizeof(mst_layer_zero_padding2d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = check,
    .build = zero_padding2d_build,
};
