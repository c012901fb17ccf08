/** unit_normalization: dst = src / sqrt(sum of src^2 over axes), of each example
 *
 *  src   [n, ...], f32 or f64
 *  axes  without the batch; negative ones count from the end; default -1
 *  name  default unit_normalization, unit_normalization_1, ...
 *  dst   like src; a norm below 1e-12 is replaced by 1e-12
 *
 *  The op on values is mst_l2_normalize.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_unit_normalization_options {
    int zero_;
    mst_axes axes;
    const char *name;
    int end_;
} mst_layer_unit_normalization_options;
#define mst_unit_normalization(...) MST_UNIT_NORMALIZATION_(__VA_ARGS__, .end_ = 0)
#define MST_UNIT_NORMALIZATION_(source, ...) \
    MST_LAYER(unit_normalization, source, MST_NAMED(mst_layer_unit_normalization_options, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_AXES(mst_layer_unit_normalization_options, axes, "over which the squares are added; none: the last"),
    MST_FIELD_STRING(mst_layer_unit_normalization_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value unit_normalization_build(const mst_layer_call *call) {
    static const double least_square = 1e-24; /* in Keras, the least norm is 1e-12 */
    const mst_axes given = ((const mst_layer_unit_normalization_options *)call->options)->axes;
    const mst_axes axes = given.count ? given : MST_AXES(-1);
    const int ndim = mst_value_spec(call->src[0]).shape.ndim;
    for (int i = 0; i < axes.count; i++) {
        const int axis = axes.axis[i] < 0 ? axes.axis[i] + ndim : axes.axis[i];
        if (axis > 0 && axis < ndim) continue;
        MST_FAIL(MST_INVALID, "unit_normalization '%s': a source of %d dimensions has no axis %d beside the batch",
                 call->name, ndim, (int)axes.axis[i]);
        return mst_layer_fail(call);
    }
    return mst_l2_normalize(call->src[0], .axes = axes, .epsilon = least_square);
}

const mst_layer_type mst_layer_type_unit_normalization = {
    .name = "unit_normalization",
    .class_name = "UnitNormalization",
    .options_size = sizeof(mst_layer_unit_normalization_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = unit_normalization_build,
    .mask = mst_layer_mask_pass,
};
