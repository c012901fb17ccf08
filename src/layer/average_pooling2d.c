/** average_pooling2d: dst = the mean of src in each window, over the elements that are inside src
 *
 *  src        [n, height, width, channels]
 *  pool_size  default 2; rows of a window, and its columns if pool_width is not given
 *  strides    distance from one window to the next, default pool_size
 *  padding    MST_PADDING_VALID (default) or MST_PADDING_SAME
 *  dst        [n, rows, columns, channels]
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_average_pooling2d_options {
    int zero_;
    int32_t pool_size;
    int32_t pool_width; /**< default pool_size */
    int32_t strides;
    int32_t strides_width; /**< default strides or, without them, pool_width */
    mst_window_padding padding;
    const char *name;
    int end_;
} mst_layer_average_pooling2d_options;
#define mst_average_pooling2d(...) MST_AVERAGE_POOLING2D_(__VA_ARGS__, .end_ = 0)
#define MST_AVERAGE_POOLING2D_(source, ...) \
    MST_LAYER(average_pooling2d, source, MST_NAMED(mst_layer_average_pooling2d_options, __VA_ARGS__))
#endif
#include "layer/pool_fields.h"
#include "muster/layers.h"
#include "muster/ops.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_average_pooling2d_options, __VA_ARGS__)

static const mst_field fields[] = {
    MST_POOL2D_FIELDS(FIELD),
    MST_FIELD_END,
};

static mst_value average_pooling2d_build(const mst_layer_call *call) {
    const mst_layer_average_pooling2d_options *o = call->options;
    const int32_t width = o->pool_width ? o->pool_width : o->pool_size;
    const int32_t strides = o->strides ? o->strides : o->pool_size;
    const int32_t along = o->strides_width ? o->strides_width : o->strides ? o->strides : width;
    return mst_avg_pool2d(call->src[0], MST_AXES(o->pool_size, width), .strides = MST_AXES(strides, along),
                          .padding = o->padding);
}

const mst_layer_type mst_layer_type_average_pooling2d = {
    .name = "average_pooling2d",
    .class_name = "AveragePooling2D",
    .options_size = sizeof(mst_layer_average_pooling2d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = average_pooling2d_build,
};
