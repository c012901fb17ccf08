/** rescaling: dst = src * scale + offset
 *
 *  src      any shape; numbers that are not f32 or f64 become f32 first
 *  scale    default 1
 *  offset   default 0
 *  scales   f32, instead of scale: [k], one for each element of the last axis, or any shape that broadcasts to src's
 *  offsets  the same instead of offset
 *  name     default rescaling, rescaling_1, ...
 *  dst      like src
 *
 *  If it follows the input of a network for pictures, the commands feed pixels from 0 to 255 and do not divide them by
 *  255.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_rescaling_options {
    int zero_;
    float scale;
    float offset;
    mst_tensor *scales, *offsets;
    const char *name;
    int end_;
} mst_layer_rescaling_options;
#define mst_rescaling(...) MST_RESCALING_(__VA_ARGS__, .end_ = 0)
#define MST_RESCALING_(source, ...) MST_LAYER(rescaling, source, MST_NAMED(mst_layer_rescaling_options, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_F32(mst_layer_rescaling_options, scale, 1, -1e30, 1e30, "factor"),
    MST_FIELD_F32(mst_layer_rescaling_options, offset, 0, -1e30, 1e30, "what is added"),
    MST_FIELD_TENSOR(mst_layer_rescaling_options, scales, "in place of the factor"),
    MST_FIELD_TENSOR(mst_layer_rescaling_options, offsets, "in place of what is added"),
    MST_FIELD_STRING(mst_layer_rescaling_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status rescaling_check(const void *options, const char *name) {
    const mst_layer_rescaling_options *o = options;
    const mst_tensor *given[] = {o->scales, o->offsets};
    for (int i = 0; i < 2; i++)
        if (given[i] && mst_tensor_dtype(given[i]) != MST_F32)
            return MST_FAIL(MST_INVALID, "rescaling '%s': %s must be f32", name, i ? "offsets" : "scales");
    if (o->scales && o->scale != 1) return MST_FAIL(MST_INVALID, "rescaling '%s': give either scale or scales", name);
    if (o->offsets && o->offset != 0)
        return MST_FAIL(MST_INVALID, "rescaling '%s': give either offset or offsets", name);
    return MST_OK;
}

static mst_value constant_like(mst_tensor *numbers, mst_value x) {
    return mst_cast(mst_constant(mst_value_graph(x), numbers), mst_value_spec(x).dtype);
}

/* Refuses scales or offsets with which X would broadcast to a larger shape. */
static bool same_shape(const mst_layer_call *call, mst_value x, mst_value y) {
    char from[MST_SHAPE_TEXT], to[MST_SHAPE_TEXT];
    const mst_shape have = mst_value_spec(x).shape, made = mst_value_spec(y).shape;
    if (mst_value_is_none(y) || mst_shape_equal(have, made)) return true;
    MST_FAIL(MST_INVALID, "rescaling '%s': its scales or offsets make %s of %s", call->name,
             mst_shape_print(made, to, sizeof to), mst_shape_print(have, from, sizeof from));
    return false;
}

static mst_value rescaling_build(const mst_layer_call *call) {
    const mst_layer_rescaling_options *o = call->options;
    mst_value x = call->src[0];
    if (!mst_dtype_is_float(mst_value_spec(x).dtype)) x = mst_cast(x, MST_F32);
    mst_value y = x;
    if (o->scales)
        y = mst_mul(x, constant_like(o->scales, x));
    else if (o->scale != 1)
        y = mst_scale(x, (double)o->scale);
    if (o->offsets)
        y = mst_add(y, constant_like(o->offsets, x));
    else if (o->offset != 0)
        y = mst_add(y, mst_scalar(call->graph, mst_value_spec(x).dtype, (double)o->offset));
    return same_shape(call, x, y) ? y : mst_layer_fail(call);
}

const mst_layer_type mst_layer_type_rescaling = {
    .name = "rescaling",
    .class_name = "Rescaling",
    .options_size = sizeof(mst_layer_rescaling_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = rescaling_check,
    .build = rescaling_build,
    .mask = mst_layer_mask_pass,
    .by_step = true,
};
