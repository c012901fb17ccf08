#include "layer/initializer/initializer.h"

#include <math.h>

#include "base/argument.h"
#include "graph/graph.h"
#include "graph/spec.h"

/* The standard deviation of a standard normal distribution that is truncated to [-2, 2]. */
static const double truncated_deviation = 0.87962566103423978;

static const char *const fans[] = {"fan_in", "fan_out", "fan_average", NULL};
static const char *const distributions[] = {"truncated_normal", "untruncated_normal", "uniform", NULL};

/* The fields of all kinds of initializers. The default of a number depends on the kind. */
const mst_field mst_initializer_fields[] = {
    MST_FIELD_ENUM(mst_initializer, kind, 0, mst_initializer_names, "formula"),
    MST_FIELD_F64(mst_initializer, value, 0, 0, 0, "of constant"),
    MST_FIELD_F64(mst_initializer, low, 0, 0, 0, "of random_uniform"),
    MST_FIELD_F64(mst_initializer, high, 0, 0, 0, "of random_uniform"),
    MST_FIELD_F64(mst_initializer, mean, 0, 0, 0, "of random_normal and truncated_normal"),
    MST_FIELD_F64(mst_initializer, stddev, 0, 0, 0, "of random_normal and truncated_normal"),
    MST_FIELD_F64(mst_initializer, scale, 0, 0, 0, "of variance_scaling and orthogonal"),
    MST_FIELD_ENUM(mst_initializer, fan, 0, fans, "of variance_scaling"),
    MST_FIELD_ENUM(mst_initializer, distribution, 0, distributions, "of variance_scaling"),
    MST_FIELD_U64(mst_initializer, seed, "another one for each variable"),
    MST_FIELD_TENSOR(mst_initializer, tensor, "that is copied"),
    MST_FIELD_END,
};

const char *mst_initializer_name(mst_initializer_kind kind) {
    return (unsigned)kind < MST_NUM_INITIALIZERS ? mst_initializer_names[kind] : "unknown";
}

void mst_shape_fans(mst_shape shape, double *fan_in, double *fan_out) {
    if (MST_IS_NULL(fan_in) || MST_IS_NULL(fan_out)) return;
    *fan_in = *fan_out = 1;
    if (shape.ndim == 0) return;
    double field = 1;
    for (int i = 0; i < shape.ndim - 2; i++) field *= (double)shape.dim[i];
    int last = shape.ndim - 1;
    *fan_out = field * (double)shape.dim[last];
    *fan_in = field * (double)shape.dim[last > 0 ? last - 1 : 0];
}

mst_initializer mst_initializer_or(mst_initializer initializer, mst_initializer otherwise) {
    return initializer.kind == MST_INITIALIZER_GLOROT_UNIFORM ? otherwise : initializer;
}

mst_value mst_initializer_scaled(mst_graph *graph, const mst_initializer *initializer, mst_dtype dtype, mst_shape shape,
                                 double scale, mst_fan fan, mst_distribution distribution) {
    double fan_in, fan_out;
    mst_shape_fans(shape, &fan_in, &fan_out);
    const double number = fan == MST_FAN_IN ? fan_in : fan == MST_FAN_OUT ? fan_out : (fan_in + fan_out) / 2;
    const double variance = scale / fmax(1, number), stddev = sqrt(variance), limit = sqrt(3 * variance);
    const uint64_t seed = initializer->seed;
    if (distribution == MST_UNIFORM)
        return mst_random_uniform(.graph = graph, .shape = shape, .low = -limit, .high = limit, .dtype = dtype,
                                  .seed = seed);
    if (distribution == MST_UNTRUNCATED_NORMAL)
        return mst_random_normal(.graph = graph, .shape = shape, .stddev = stddev, .dtype = dtype, .seed = seed);
    return mst_random_truncated_normal(.graph = graph, .shape = shape, .stddev = stddev / truncated_deviation,
                                       .dtype = dtype, .seed = seed);
}

static mst_status initializer_check(const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    const mst_initializer_form *form = mst_initializer_table[r->kind];
    const char *name = mst_initializer_names[r->kind];
    char text[MST_SHAPE_TEXT];
    if (mst_shape_count(shape) < 0)
        return MST_FAIL(MST_INVALID, "%s initializer: shape %s must have no unknown dimension", name,
                        mst_shape_print(shape, text, sizeof text));
    if (form->only_floats && !mst_dtype_is_float(dtype))
        return MST_FAIL(MST_INVALID, "%s initializer: makes f32 or f64, not %s", name, mst_dtype_name(dtype));
    if (!(r->stddev >= 0))
        return MST_FAIL(MST_INVALID, "%s initializer: stddev is %g, must not be negative", name, r->stddev);
    if (!(r->scale >= 0))
        return MST_FAIL(MST_INVALID, "%s initializer: scale is %g, must not be negative", name, r->scale);
    if (!(r->low <= r->high))
        return MST_FAIL(MST_INVALID, "%s initializer: low is %g, must not be above high, %g", name, r->low, r->high);
    return form->check ? form->check(r, dtype, shape) : MST_OK;
}

/* Graphs keep constants in memory, and may be built only to find shapes. So large values are not constants: they are
 * computed when the variable is set. */
mst_value mst_initializer_filled(mst_graph *graph, mst_dtype dtype, mst_shape shape, double number) {
    enum { LARGE = 1 << 12 };
    const int64_t count = mst_shape_count(shape);
    if (count <= LARGE) return mst_fill(graph, dtype, shape, number);
    return mst_broadcast_to(mst_scalar(graph, dtype, number), shape);
}

mst_value mst_initializer_value(mst_graph *graph, mst_initializer initializer, mst_dtype dtype, mst_shape shape) {
    if (MST_IS_NULL(graph)) return MST_NONE;
    if ((unsigned)initializer.kind >= MST_NUM_INITIALIZERS)
        return mst_value_fail(graph, MST_INVALID, "initializer: kind is %d, must be one of mst_initializer_kind",
                              (int)initializer.kind);
    const mst_initializer_form *form = mst_initializer_table[initializer.kind];
    if (dtype == MST_BF16 && !form->makes_bf16)
        return mst_cast(mst_initializer_value(graph, initializer, MST_F32, shape), dtype);
    if (initializer_check(&initializer, dtype, shape)) return mst_value_of_last_error(graph);
    return form->value(graph, &initializer, dtype, shape);
}
