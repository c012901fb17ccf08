/** masking: masks, for the layers after it, the steps whose features are all mask_value
 *
 *  src         [n, steps, features]
 *  mask_value  default 0
 *  name        default masking, masking_1, ...
 *  dst         src, with 0 in the masked steps
 *
 *  Recurrent layers skip masked steps, and global_average_pooling1d does not average them, as in Keras. Layers that
 *  take steps one by one pass the mask on.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_masking_options {
    int zero_;
    double mask_value;
    const char *name;
    int end_;
} mst_layer_masking_options;
#define mst_masking(...) MST_MASKING_(__VA_ARGS__, .end_ = 0)
#define MST_MASKING_(source, ...) MST_LAYER(masking, source, MST_NAMED(mst_layer_masking_options, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_F64(mst_layer_masking_options, mask_value, 0, 0, 0, "what steps are that do not count"),
    MST_FIELD_STRING(mst_layer_masking_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value masking_mask(const mst_layer_call *call) {
    const mst_layer_masking_options *o = call->options;
    const mst_dtype dtype = mst_value_spec(call->src[0]).dtype;
    /* MST_ZERO is -0; adding 0.0 makes it 0 */
    return mst_reduce_any(mst_not_equal(call->src[0], mst_scalar(call->graph, dtype, o->mask_value + 0.0)),
                          .axes = MST_AXES(2));
}

static mst_value masking_build(const mst_layer_call *call) {
    if (mst_layer_want_ndim(call, 3, "[n, steps, features]")) return mst_layer_fail(call);
    return mst_select(mst_expand_dims(masking_mask(call), 2), call->src[0], mst_zeros_like(call->src[0]));
}

const mst_layer_type mst_layer_type_masking = {
    .name = "masking",
    .class_name = "Masking",
    .options_size = sizeof(mst_layer_masking_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = masking_build,
    .mask = masking_mask,
};
