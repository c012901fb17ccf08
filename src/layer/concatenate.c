/** concatenate: dst = the sources one after the other along an axis
 *
 *  src   two or more outputs, with the same shape except along the axis: MST_OUTPUTS(a, b)
 *  axis  1 or more, or negative: counted from the end; default -1
 *  name  default concatenate, concatenate_1, ...
 *  dst   like src; its length along the axis is the sum of theirs
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_concatenate_options {
    int zero_;
    int axis;
    const char *name;
    int end_;
} mst_layer_concatenate_options;
#define mst_concatenate(...) MST_CONCATENATE_(__VA_ARGS__, .end_ = 0)
#define MST_CONCATENATE_(sources, ...) \
    MST_LAYER(concatenate, sources, MST_NAMED(mst_layer_concatenate_options, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_I32(mst_layer_concatenate_options, axis, -1, -MST_MAX_NDIM, MST_MAX_NDIM, "along which they are joined"),
    MST_FIELD_STRING(mst_layer_concatenate_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value concatenate_build(const mst_layer_call *call) {
    return mst_concat(call->src, call->num_src, ((const mst_layer_concatenate_options *)call->options)->axis);
}

const mst_layer_type mst_layer_type_concatenate = {
    .name = "concatenate",
    .class_name = "Concatenate",
    .options_size = sizeof(mst_layer_concatenate_options),
    .fields = fields,
    .min_src = 2,
    .max_src = MST_MAX_OUTPUTS,
    .build = concatenate_build,
    .mask = mst_layer_mask_refuse,
};
