/** up_sampling3d: enlarges the slices, rows and columns of volumes by whole factors, repeating each element
 *
 *  src   [n, depth, height, width, channels]; all except n must be known
 *  size  factor of all three, or of slices, rows and columns; default MST_AXES(2)
 *  dst   [n, slices, rows, columns, channels]
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_up_sampling3d_options {
    int zero_;
    mst_axes size;
    const char *name;
    int end_;
} mst_layer_up_sampling3d_options;
#define mst_up_sampling3d(...) MST_UP_SAMPLING3D_(__VA_ARGS__, .end_ = 0)
#define MST_UP_SAMPLING3D_(source, ...) \
    MST_LAYER(up_sampling3d, source, MST_NAMED(mst_layer_up_sampling3d_options, __VA_ARGS__))
#endif
#include "layer/repeat.h"
#include "layer/three_axes.h"
#include "muster/layers.h"

static const mst_field fields[] = {
    MST_FIELD_AXES(mst_layer_up_sampling3d_options, size, "factor of each axis; none: 2"),
    MST_FIELD_STRING(mst_layer_up_sampling3d_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status up_sampling3d_check(const void *options, const char *name) {
    const mst_layer_up_sampling3d_options *o = options;
    return mst_three_axes_check(&o->size, "up_sampling3d", name, "size", true);
}

static mst_value up_sampling3d_build(const mst_layer_call *call) {
    const mst_axes size = ((const mst_layer_up_sampling3d_options *)call->options)->size;
    const int32_t all = size.count == 1 ? size.axis[0] : 2;
    return mst_repeat_axes(call, "[n, depth, height, width, channels]",
                           size.count == 3 ? size.axis : (const int32_t[]){all, all, all}, 3);
}

const mst_layer_type mst_layer_type_up_sampling3d = {
    .name = "up_sampling3d",
    .class_name = "UpSampling3D",
    .options_size = sizeof(mst_layer_up_sampling3d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = up_sampling3d_check,
    .build = up_sampling3d_build,
};
