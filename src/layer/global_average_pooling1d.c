/** global_average_pooling1d: dst = the mean of each channel of src
 *
 *  src        [n, steps, channels]
 *  keep_dims  dst keeps the reduced axes, with length 1
 *  dst        [n, channels]
 *
 *  Masked steps are not averaged, as in Keras.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_global_average_pooling1d_options {
    int zero_;
    bool keep_dims;
    const char *name;
    int end_;
} mst_layer_global_average_pooling1d_options;
#define mst_global_average_pooling1d(...) MST_GLOBAL_AVERAGE_POOLING1D_(__VA_ARGS__, .end_ = 0)
#define MST_GLOBAL_AVERAGE_POOLING1D_(source, ...) \
    MST_LAYER(global_average_pooling1d, source, MST_NAMED(mst_layer_global_average_pooling1d_options, __VA_ARGS__))
#endif
#include "layer/pool_fields.h"
#include "muster/layers.h"
#include "muster/ops.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_global_average_pooling1d_options, __VA_ARGS__)

static const mst_field fields[] = {
    MST_GLOBAL_POOL_FIELDS(FIELD),
    MST_FIELD_END,
};

static mst_value global_average_pooling1d_build(const mst_layer_call *call) {
    const mst_layer_global_average_pooling1d_options *o = call->options;
    if (mst_layer_want_ndim(call, 3, "[n, steps, channels]")) return mst_layer_fail(call);
    const mst_value mask = mst_layer_mask(call);
    if (mst_value_is_none(mask)) return mst_reduce_mean(call->src[0], MST_AXES(1), .keep_dims = o->keep_dims);
    const mst_value counts = mst_expand_dims(mst_cast(mask, mst_value_spec(call->src[0]).dtype), 2);
    return mst_div(mst_reduce_sum(mst_mul(call->src[0], counts), .axes = MST_AXES(1), .keep_dims = o->keep_dims),
                   mst_reduce_sum(counts, .axes = MST_AXES(1), .keep_dims = o->keep_dims));
}

const mst_layer_type mst_layer_type_global_average_pooling1d = {
    .name = "global_average_pooling1d",
    .class_name = "GlobalAveragePooling1D",
    .options_size = sizeof(mst_layer_global_average_pooling1d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = global_average_pooling1d_build,
};
