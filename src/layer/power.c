/** power: dst = factor * src ^ exponent
 *
 *  src       any shape; numbers that are not f32 or f64 become f32 first. A negative number with an exponent that is
 *            not whole gives NaN
 *  exponent  default 2; -1 is factor / src
 *  factor    default 1
 *  name      default power, power_1, ...
 *  dst       like src
 *
 *  In Keras it is written with Python's operators, x ** 3 and 2 / x, which functional models keep as ops.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_power_options {
    int zero_;
    double exponent;
    double factor;
    const char *name;
    int end_;
} mst_layer_power_options;
#define mst_power(...) MST_POWER_(__VA_ARGS__, .end_ = 0)
#define MST_POWER_(source, ...) MST_LAYER(power, source, MST_NAMED(mst_layer_power_options, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_F64(mst_layer_power_options, exponent, 2, -1e6, 1e6, "of the power"),
    MST_FIELD_F64(mst_layer_power_options, factor, 1, -1e30, 1e30, "of the power"),
    MST_FIELD_STRING(mst_layer_power_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value power_of(mst_value x, double exponent) {
    if (exponent == 1) return x;
    if (exponent == 2) return mst_square(x);
    if (exponent == 0.5) return mst_sqrt(x);
    return mst_pow(x, mst_scalar(mst_value_graph(x), mst_value_spec(x).dtype, exponent));
}

static mst_value power_build(const mst_layer_call *call) {
    const mst_layer_power_options *o = call->options;
    mst_value x = call->src[0];
    if (!mst_dtype_is_float(mst_value_spec(x).dtype)) x = mst_cast(x, MST_F32);
    if (o->exponent == -1) return mst_div(mst_scalar(call->graph, mst_value_spec(x).dtype, o->factor), x);
    const mst_value y = power_of(x, o->exponent);
    return o->factor == 1 ? y : mst_scale(y, o->factor);
}

const mst_layer_type mst_layer_type_power = {
    .name = "power",
    .class_name = "Power",
    .options_size = sizeof(mst_layer_power_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = power_build,
};
