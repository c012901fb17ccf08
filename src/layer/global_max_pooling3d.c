/** global_max_pooling3d: dst = the maximum of each channel of src
 *
 *  src        [n, depth, height, width, channels]
 *  keep_dims  dst keeps the reduced axes, with length 1
 *  dst        [n, channels]
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_global_max_pooling3d_options {
    int zero_;
    bool keep_dims;
    const char *name;
    int end_;
} mst_layer_global_max_pooling3d_options;
#define mst_global_max_pooling3d(...) MST_GLOBAL_MAX_POOLING3D_(__VA_ARGS__, .end_ = 0)
#define MST_GLOBAL_MAX_POOLING3D_(source, ...) \
    MST_LAYER(global_max_pooling3d, source, MST_NAMED(mst_layer_global_max_pooling3d_options, __VA_ARGS__))
#endif
#include "layer/pool_fields.h"
#include "muster/layers.h"
#include "muster/ops.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_global_max_pooling3d_options, __VA_ARGS__)

static const mst_field fields[] = {
    MST_GLOBAL_POOL_FIELDS(FIELD),
    MST_FIELD_END,
};

static mst_value global_max_pooling3d_build(const mst_layer_call *call) {
    const mst_layer_global_max_pooling3d_options *o = call->options;
    if (mst_layer_want_ndim(call, 5, "[n, depth, height, width, channels]")) return mst_layer_fail(call);
    return mst_reduce_max(call->src[0], MST_AXES(1, 2, 3), .keep_dims = o->keep_dims);
}

const mst_layer_type mst_layer_type_global_max_pooling3d = {
    .name = "global_max_pooling3d",
    .class_name = "GlobalMaxPooling3D",
    .options_size = sizeof(mst_layer_global_max_pooling3d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = global_max_pooling3d_build,
};
