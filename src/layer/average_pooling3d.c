/** average_pooling3d: dst = the mean of src in each window, over the elements that are inside src
 *
 *  src        [n, depth, height, width, channels]
 *  pool_size  of a window: one number, or slices, rows and columns; default MST_AXES(2)
 *  strides    distance from one window to the next: one number, or three; default pool_size
 *  padding    MST_PADDING_VALID (default) or MST_PADDING_SAME
 *  dst        [n, slices, rows, columns, channels]
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_average_pooling3d_options {
    int zero_;
    mst_axes pool_size;
    mst_axes strides;
    mst_window_padding padding;
    const char *name;
    int end_;
} mst_layer_average_pooling3d_options;
#define mst_average_pooling3d(...) MST_AVERAGE_POOLING3D_(__VA_ARGS__, .end_ = 0)
#define MST_AVERAGE_POOLING3D_(source, ...) \
    MST_LAYER(average_pooling3d, source, MST_NAMED(mst_layer_average_pooling3d_options, __VA_ARGS__))
#endif
#include "layer/pool_fields.h"
#include "layer/three_axes.h"
#include "muster/layers.h"
#include "muster/ops.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_average_pooling3d_options, __VA_ARGS__)

static const mst_field fields[] = {
    MST_POOL3D_FIELDS(FIELD),
    MST_FIELD_END,
};

static mst_status average_pooling3d_check(const void *options, const char *name) {
    const mst_layer_average_pooling3d_options *o = options;
    MST_TRY(mst_three_axes_check(&o->pool_size, "average_pooling3d", name, "pool_size", true));
    return mst_three_axes_check(&o->strides, "average_pooling3d", name, "strides", true);
}

static mst_value average_pooling3d_build(const mst_layer_call *call) {
    const mst_layer_average_pooling3d_options *o = call->options;
    return mst_avg_pool3d(call->src[0], o->pool_size.count ? o->pool_size : MST_AXES(2), .strides = o->strides,
                          .padding = o->padding);
}

const mst_layer_type mst_layer_type_average_pooling3d = {
    .name = "average_pooling3d",
    .class_name = "AveragePooling3D",
    .options_size = sizeof(mst_layer_average_pooling3d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = average_pooling3d_check,
    .build = average_pooling3d_build,
};
