/** resizing: gives pictures the size HEIGHT x WIDTH
 *
 *  src            [n, any height, any width, channels], f32 or f64
 *  height, width  rows and columns of dst, at least 1
 *  interpolation  MST_RESIZING_BILINEAR (default), MST_RESIZING_NEAREST, or MST_RESIZING_AREA
 *  name           default resizing, resizing_1, ...
 *  dst            [n, height, width, channels]
 *
 *  The op on values is mst_resize2d: half-pixel centers, and no filter against aliasing. Neither side is cropped or
 *  padded. Source: keras.layers.Resizing.
 */
#ifdef MST_LAYER_HEADER
typedef enum mst_resizing_interpolation {
    MST_RESIZING_BILINEAR = 0,
    MST_RESIZING_NEAREST,
    MST_RESIZING_AREA
} mst_resizing_interpolation;
typedef struct mst_layer_resizing_options {
    int zero_;
    int32_t height, width;
    mst_resizing_interpolation interpolation;
    const char *name;
} mst_layer_resizing_options;
#define mst_resizing(source, ...) \
    MST_LAYER(resizing, source, MST_NAMED_2(mst_layer_resizing_options, height, width, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const char *const interpolation_names[] = {"bilinear", "nearest", "area", NULL};
static const mst_interpolation interpolation_of[] = {
    [MST_RESIZING_BILINEAR] = MST_INTERPOLATION_BILINEAR,
    [MST_RESIZING_NEAREST] = MST_INTERPOLATION_NEAREST,
    [MST_RESIZING_AREA] = MST_INTERPOLATION_AREA,
};

static const mst_field fields[] = {
    MST_FIELD_I32(mst_layer_resizing_options, height, 0, 1, 1e5, "rows of the output"),
    MST_FIELD_I32(mst_layer_resizing_options, width, 0, 1, 1e5, "columns of the output"),
    MST_FIELD_ENUM(mst_layer_resizing_options, interpolation, MST_RESIZING_BILINEAR, interpolation_names,
                   "how values between pixels are computed"),
    MST_FIELD_STRING(mst_layer_resizing_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value resizing_build(const mst_layer_call *call) {
    const mst_layer_resizing_options *o = call->options;
    if (mst_layer_want_ndim(call, 4, "[n, height, width, channels]")) return mst_layer_fail(call);
    return mst_resize2d(call->src[0], MST_AXES(o->height, o->width),
                        .interpolation = interpolation_of[o->interpolation]);
}

const mst_layer_type mst_layer_type_resizing = {
    .name = "resizing",
    .class_name = "Resizing",
    .options_size = sizeof(mst_layer_resizing_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = resizing_build,
};
