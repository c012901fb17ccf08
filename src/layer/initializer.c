#include "layer/initializer.h"

#include <math.h>

#include "base/argument.h"
#include "graph/field.h"
#include "graph/spec.h"
#include "muster/ops.h"

/* standard deviation of a normal distribution with deviation 1 that is cut off beyond 2 */
static const double truncated_deviation = 0.87962566103423978;

static const char *const names[MST_NUM_INITIALIZERS + 1] = {
    [MST_INITIALIZER_GLOROT_UNIFORM] = "glorot_uniform",
    [MST_INITIALIZER_GLOROT_NORMAL] = "glorot_normal",
    [MST_INITIALIZER_HE_UNIFORM] = "he_uniform",
    [MST_INITIALIZER_HE_NORMAL] = "he_normal",
    [MST_INITIALIZER_LECUN_UNIFORM] = "lecun_uniform",
    [MST_INITIALIZER_LECUN_NORMAL] = "lecun_normal",
    [MST_INITIALIZER_VARIANCE_SCALING] = "variance_scaling",
    [MST_INITIALIZER_ZEROS] = "zeros",
    [MST_INITIALIZER_ONES] = "ones",
    [MST_INITIALIZER_CONSTANT] = "constant",
    [MST_INITIALIZER_RANDOM_UNIFORM] = "random_uniform",
    [MST_INITIALIZER_RANDOM_NORMAL] = "random_normal",
    [MST_INITIALIZER_TRUNCATED_NORMAL] = "truncated_normal",
    [MST_INITIALIZER_TENSOR] = "tensor",
};
static const char *const fans[] = {"fan_in", "fan_out", "fan_average", NULL};
static const char *const distributions[] = {"truncated_normal", "untruncated_normal", "uniform", NULL};

/* Their defaults depend on the kind and on the shape: resolve() below. */
const mst_field mst_initializer_fields[] = {
    MST_FIELD_ENUM(mst_initializer, kind, 0, names, "formula"),
    MST_FIELD_F64(mst_initializer, value, 0, 0, 0, "of constant"),
    MST_FIELD_F64(mst_initializer, low, 0, 0, 0, "of random_uniform"),
    MST_FIELD_F64(mst_initializer, high, 0, 0, 0, "of random_uniform"),
    MST_FIELD_F64(mst_initializer, mean, 0, 0, 0, "of random_normal and truncated_normal"),
    MST_FIELD_F64(mst_initializer, stddev, 0, 0, 0, "of random_normal and truncated_normal"),
    MST_FIELD_F64(mst_initializer, scale, 0, 0, 0, "of variance_scaling"),
    MST_FIELD_ENUM(mst_initializer, fan, 0, fans, "of variance_scaling"),
    MST_FIELD_ENUM(mst_initializer, distribution, 0, distributions, "of variance_scaling"),
    MST_FIELD_U64(mst_initializer, seed, "another one for each variable"),
    MST_FIELD_TENSOR(mst_initializer, tensor, "that is copied"),
    MST_FIELD_END,
};

/* The kinds that are variance scaling under another name. */
static const struct {
    double scale;
    mst_fan fan;
    mst_distribution distribution;
} scalings[MST_INITIALIZER_VARIANCE_SCALING] = {
    [MST_INITIALIZER_GLOROT_UNIFORM] = {1, MST_FAN_AVERAGE, MST_UNIFORM},
    [MST_INITIALIZER_GLOROT_NORMAL] = {1, MST_FAN_AVERAGE, MST_TRUNCATED_NORMAL},
    [MST_INITIALIZER_HE_UNIFORM] = {2, MST_FAN_IN, MST_UNIFORM},
    [MST_INITIALIZER_HE_NORMAL] = {2, MST_FAN_IN, MST_TRUNCATED_NORMAL},
    [MST_INITIALIZER_LECUN_UNIFORM] = {1, MST_FAN_IN, MST_UNIFORM},
    [MST_INITIALIZER_LECUN_NORMAL] = {1, MST_FAN_IN, MST_TRUNCATED_NORMAL},
};

const char *mst_initializer_name(mst_initializer_kind kind) {
    return (unsigned)kind < MST_NUM_INITIALIZERS ? names[kind] : "unknown";
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

/* Turns variance scaling into the distribution it stands for. */
static mst_initializer resolve(mst_initializer r, mst_shape shape) {
    if (r.kind < MST_INITIALIZER_VARIANCE_SCALING) {
        r.scale = scalings[r.kind].scale;
        r.fan = scalings[r.kind].fan;
        r.distribution = scalings[r.kind].distribution;
        r.kind = MST_INITIALIZER_VARIANCE_SCALING;
    }
    if (r.kind == MST_INITIALIZER_VARIANCE_SCALING) {
        double fan_in, fan_out;
        mst_shape_fans(shape, &fan_in, &fan_out);
        double fan = r.fan == MST_FAN_IN ? fan_in : r.fan == MST_FAN_OUT ? fan_out : (fan_in + fan_out) / 2;
        double variance = (mst_number_given(r.scale) ? r.scale : 1) / fmax(1, fan);
        r.mean = 0;
        r.stddev = sqrt(variance);
        r.high = sqrt(3 * variance);
        r.low = -r.high;
        r.kind = r.distribution == MST_UNIFORM              ? MST_INITIALIZER_RANDOM_UNIFORM
                 : r.distribution == MST_UNTRUNCATED_NORMAL ? MST_INITIALIZER_RANDOM_NORMAL
                                                            : MST_INITIALIZER_TRUNCATED_NORMAL;
        if (r.kind == MST_INITIALIZER_TRUNCATED_NORMAL) r.stddev /= truncated_deviation;
    }
    if (!mst_number_given(r.stddev)) r.stddev = 0.05;
    if (!mst_number_given(r.low) && !mst_number_given(r.high)) {
        r.low = -0.05;
        r.high = 0.05;
    }
    return r;
}

static mst_status check(const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    if ((unsigned)r->kind >= MST_NUM_INITIALIZERS)
        return MST_FAIL(MST_INVALID, "initializer: kind is %d, must be one of mst_initializer_kind", (int)r->kind);
    const char *name = names[r->kind];
    char text[MST_SHAPE_TEXT];
    if (mst_shape_count(shape) < 0)
        return MST_FAIL(MST_INVALID, "%s initializer: shape %s must have no unknown dimension", name,
                        mst_shape_print(shape, text, sizeof text));
    bool any_dtype = r->kind >= MST_INITIALIZER_ZEROS && r->kind <= MST_INITIALIZER_CONSTANT;
    if (!any_dtype && r->kind != MST_INITIALIZER_TENSOR && !mst_dtype_is_float(dtype))
        return MST_FAIL(MST_INVALID, "%s initializer: makes f32 or f64, not %s", name, mst_dtype_name(dtype));
    if (!(r->stddev >= 0))
        return MST_FAIL(MST_INVALID, "%s initializer: stddev is %g, must not be negative", name, r->stddev);
    if (!(r->scale >= 0))
        return MST_FAIL(MST_INVALID, "%s initializer: scale is %g, must not be negative", name, r->scale);
    if (!(r->low <= r->high))
        return MST_FAIL(MST_INVALID, "%s initializer: low is %g, must not be above high, %g", name, r->low, r->high);
    if (r->kind != MST_INITIALIZER_TENSOR) return MST_OK;
    if (!r->tensor) return MST_FAIL(MST_INVALID, "tensor initializer: no tensor given");
    const mst_spec given = mst_spec_of(r->tensor), wanted = {dtype, shape};
    if (mst_spec_equal(&given, &wanted)) return MST_OK;
    char have[MST_SPEC_TEXT], want[MST_SPEC_TEXT];
    return MST_FAIL(MST_INVALID, "tensor initializer: the tensor is %s, the variable %s",
                    mst_spec_print(&given, have, sizeof have), mst_spec_print(&wanted, want, sizeof want));
}

mst_value mst_initializer_value(mst_graph *graph, mst_initializer initializer, mst_dtype dtype, mst_shape shape) {
    if (MST_IS_NULL(graph)) return MST_NONE;
    if (dtype == MST_BF16 && initializer.kind != MST_INITIALIZER_TENSOR) /* made in f32 */
        return mst_cast(mst_initializer_value(graph, initializer, MST_F32, shape), dtype);
    mst_status status = check(&initializer, dtype, shape);
    if (status) return mst_value_fail(graph, status, "%s", mst_error()->message);
    const mst_initializer r = resolve(initializer, shape);
    switch ((int)r.kind) {
        case MST_INITIALIZER_ZEROS: return mst_fill(graph, dtype, shape, 0);
        case MST_INITIALIZER_ONES: return mst_fill(graph, dtype, shape, 1);
        case MST_INITIALIZER_CONSTANT: return mst_fill(graph, dtype, shape, r.value);
        case MST_INITIALIZER_TENSOR: return mst_constant(graph, r.tensor);
        case MST_INITIALIZER_RANDOM_UNIFORM:
            return mst_random_uniform(.graph = graph, .shape = shape, .low = r.low, .high = r.high, .dtype = dtype,
                                      .seed = r.seed);
        case MST_INITIALIZER_RANDOM_NORMAL:
            return mst_random_normal(.graph = graph, .shape = shape, .mean = r.mean, .stddev = r.stddev, .dtype = dtype,
                                     .seed = r.seed);
        default:
            return mst_random_truncated_normal(.graph = graph, .shape = shape, .mean = r.mean, .stddev = r.stddev,
                                               .dtype = dtype, .seed = r.seed);
    }
}
