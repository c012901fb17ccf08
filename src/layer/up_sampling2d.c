/** up_sampling2d: enlarges the rows and columns of pictures by whole factors
 *
 *  src            [n, height, width, channels], f32 or f64; height and width must be known
 *  size           factor of the rows, and of the columns if size_width is not given; default 2
 *  interpolation  MST_INTERPOLATION_NEAREST (default): pixels are repeated; MST_INTERPOLATION_BILINEAR
 *  dst            [n, size * height, size_width * width, channels]
 *
 *  The op on values is mst_resize2d.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_up_sampling2d_options {
    int zero_;
    int32_t size;
    int32_t size_width; /**< default size */
    mst_interpolation interpolation;
    const char *name;
    int end_;
} mst_layer_up_sampling2d_options;
#define mst_up_sampling2d(...) MST_UP_SAMPLING2D_(__VA_ARGS__, .end_ = 0)
#define MST_UP_SAMPLING2D_(source, ...) \
    MST_LAYER(up_sampling2d, source, MST_NAMED(mst_layer_up_sampling2d_options, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const char *const interpolation_names[] = {"nearest", "bilinear", NULL};

static const mst_field fields[] = {
    MST_FIELD_I32(mst_layer_up_sampling2d_options, size, 2, 1, 1e4, "factor of the rows"),
    MST_FIELD_I32(mst_layer_up_sampling2d_options, size_width, 0, 0, 1e4, "factor of the columns; 0: size"),
    MST_FIELD_ENUM(mst_layer_up_sampling2d_options, interpolation, MST_INTERPOLATION_NEAREST, interpolation_names,
                   "what is between the pixels"),
    MST_FIELD_STRING(mst_layer_up_sampling2d_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value up_sampling2d_build(const mst_layer_call *call) {
    enum { MOST = 100000 };
    const mst_layer_up_sampling2d_options *o = call->options;
    const mst_shape src = mst_value_spec(call->src[0]).shape;
    const int64_t height = src.ndim == 4 ? src.dim[1] : 0, width = src.ndim == 4 ? src.dim[2] : 0;
    if (height < 1 || width < 1 || height > MOST || width > MOST) {
        char text[MST_SHAPE_TEXT];
        MST_FAIL(
            MST_INVALID,
            "up_sampling2d '%s': needs [n, height, width, channels], height and width known and at most %d, got %s",
            call->name, MOST, mst_shape_print(src, text, sizeof text));
        return mst_layer_fail(call);
    }
    return mst_resize2d(call->src[0],
                        MST_AXES((int)height * o->size, (int)width * (o->size_width ? o->size_width : o->size)),
                        .interpolation = o->interpolation);
}

const mst_layer_type mst_layer_type_up_sampling2d = {
    .name = "up_sampling2d",
    .class_name = "UpSampling2D",
    .options_size = sizeof(mst_layer_up_sampling2d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = up_sampling2d_build,
};
