/** normalization: dst = (src - mean) / max(sqrt(variance), 1e-7)
 *
 *  src             [n, ...]; integers are cast to f32
 *  axis            each of its elements has its own mean and variance; 1 or more, or negative: counted from the end;
 *                  default -1
 *  no_axis         one mean and variance for all elements: Keras' axis=None
 *  mean, variance  f32, both or neither given: [] or [elements of the axis]. Without them, mst_adapt learns them, and
 *                  the layer has weights
 *  invert          dst = src * max(sqrt(variance), 1e-7) + mean
 *  fill_missing    a NaN becomes 0, as if it were the mean; not with invert. Keras does not have this
 *  keep_constant   if an element has the same value in all rows of mst_adapt, its variance becomes 1, so that another
 *                  value does not become huge later. Keras does not have this, and divides by 1e-7
 *  name            default normalization, normalization_1, ...
 *  dst             like src, f32 or f64
 *
 *  Weights if mean and variance are not given: mean and variance [elements of the axis], or [] with no_axis, which are
 *  0 and 1 until mst_adapt has learnt them; and count [], which Keras keeps for old files. They are not trained.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_normalization_options {
    int zero_;
    int axis;
    bool no_axis;
    mst_tensor *mean, *variance;
    bool invert, fill_missing, keep_constant;
    const char *name;
    mst_tensor *adapted_mean, *adapted_variance; /**< set by mst_adapt: initial values of the weights */
    int end_;
} mst_layer_normalization_options;
#define mst_normalization(...) MST_NORMALIZATION_(__VA_ARGS__, .end_ = 0)
#define MST_NORMALIZATION_(source, ...) \
    MST_LAYER(normalization, source, MST_NAMED(mst_layer_normalization_options, __VA_ARGS__))
#endif
#include <math.h>
#include <stdlib.h>

#include "base/no_memory.h"
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const double least_deviation = 1e-7; /* keras.backend.epsilon() */

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_normalization_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(I32, axis, -1, -MST_MAX_NDIM, MST_MAX_NDIM, "that has a mean for each of its elements"),
    FIELD(BOOL, no_axis, "one mean of all elements"),
    FIELD(TENSOR, mean, "that is subtracted"),
    FIELD(TENSOR, variance, "whose root it is divided by"),
    FIELD(BOOL, invert, "the inverse"),
    FIELD(BOOL, fill_missing, "a NaN becomes the mean"),
    FIELD(BOOL, keep_constant, "a variance of 0 that is learnt becomes 1"),
    FIELD(STRING, name, "of the layer"),
    FIELD(TENSOR, adapted_mean, "the initial value of the weight"),
    FIELD(TENSOR, adapted_variance, "the initial value of the weight"),
    MST_FIELD_END,
};

static mst_status normalization_check(const void *options, const char *name) {
    const mst_layer_normalization_options *o = options;
    if (!o->mean != !o->variance)
        return MST_FAIL(MST_INVALID,
                        "normalization '%s': mean is given and variance is not, or the other way: give both", name);
    if (o->invert && o->fill_missing)
        return MST_FAIL(MST_INVALID, "normalization '%s': with invert there is no number that is missing", name);
    return MST_OK;
}

/* The index of dimension AXIS among NDIM dimensions; -1 if there is no such dimension, or it is the batch. */
static int find_axis(int axis, int ndim) {
    const int place = axis < 0 ? axis + ndim : axis;
    return place > 0 && place < ndim ? place : -1;
}

/* The shape of mean and variance for a source of SHAPE, which includes the batch. */
static mst_status statistics_shape(const mst_layer_normalization_options *o, const char *name, mst_shape shape,
                                   mst_shape *out) {
    char text[MST_SHAPE_TEXT];
    *out = (mst_shape){0};
    if (o->no_axis) return MST_OK;
    const int axis = find_axis(o->axis, shape.ndim);
    if (axis < 0)
        return MST_FAIL(MST_INVALID,
                        "normalization '%s': %s has no axis %d beside the batch: give another, or .no_axis", name,
                        mst_shape_print(shape, text, sizeof text), o->axis);
    if (shape.dim[axis] < 0)
        return MST_FAIL(MST_INVALID, "normalization '%s': the length of axis %d must be known", name, o->axis);
    *out = MST_SHAPE(shape.dim[axis]);
    return MST_OK;
}

/* ---- graph ---- */

static mst_initializer begin_with(mst_tensor *adapted, mst_initializer other) {
    return adapted ? mst_tensor_initializer(adapted) : other;
}

static mst_status weights(mst_layer_call *call) {
    const mst_layer_normalization_options *o = call->options;
    mst_shape shape;
    MST_TRY(statistics_shape(o, call->name, mst_value_spec(call->src[0]).shape, &shape));
    if (o->mean) return MST_OK;
    mst_layer_weight(call, .name = "mean", .shape = shape, .not_trainable = true,
                     .initializer = begin_with(o->adapted_mean, mst_zeros_initializer()));
    mst_layer_weight(call, .name = "variance", .shape = shape, .not_trainable = true,
                     .initializer = begin_with(o->adapted_variance, mst_ones_initializer()));
    mst_layer_weight(call, .name = "count", .dtype = MST_I64, .not_trainable = true,
                     .initializer = mst_zeros_initializer());
    return MST_OK;
}

/* Reshapes STATISTIC, [elements of the axis], so that it broadcasts with SRC. */
static mst_value along_axis(const mst_layer_normalization_options *o, mst_value statistic, mst_value src) {
    const mst_spec spec = mst_value_spec(src);
    const mst_shape have = mst_value_spec(statistic).shape;
    statistic = mst_cast(statistic, spec.dtype);
    if (have.ndim == 0 || o->no_axis) return statistic;
    mst_shape shape = {.ndim = spec.shape.ndim - find_axis(o->axis, spec.shape.ndim), .dim = {have.dim[0]}};
    for (int i = 1; i < shape.ndim; i++) shape.dim[i] = 1;
    return shape.ndim == 1 ? statistic : mst_reshape(statistic, shape);
}

static mst_value normalization_build(const mst_layer_call *call) {
    const mst_layer_normalization_options *o = call->options;
    mst_graph *g = call->graph;
    const mst_dtype dtype = mst_value_spec(call->src[0]).dtype;
    const mst_value x = dtype == MST_F32 || dtype == MST_F64 ? call->src[0] : mst_cast(call->src[0], MST_F32);
    const mst_value mean = along_axis(o, o->mean ? mst_constant(g, o->mean) : call->weight[0], x);
    const mst_value variance = along_axis(o, o->mean ? mst_constant(g, o->variance) : call->weight[1], x);
    const mst_value least = mst_scalar(g, mst_value_spec(x).dtype, least_deviation);
    const mst_value deviation = mst_maximum(mst_sqrt(variance), least);
    if (o->invert) return mst_add(mean, mst_mul(x, deviation));
    const mst_value y = mst_div(mst_sub(x, mean), deviation);
    return o->fill_missing ? mst_select(mst_is_nan(x), mst_zeros_like(y), y) : y;
}

/* ---- what it learns ---- */

/* Sums over the numbers that are not NaN: of x - FIRST, where FIRST is the first of them, and of (x - FIRST)^2. The
 * variance made from these sums is accurate even if the mean is much larger than the deviation. */
typedef struct statistic {
    double first, sum, squares;
    int64_t count;
} statistic;

static void statistic_add(statistic *s, double x) {
    if (isnan(x)) return;
    if (!s->count++) s->first = x;
    s->sum += x - s->first;
    s->squares += (x - s->first) * (x - s->first);
}

static void add_rows(const mst_layer_normalization_options *o, const mst_tensor *rows, statistic *s, int64_t length) {
    const mst_shape shape = mst_tensor_shape(rows);
    int64_t inner = 1;
    for (int i = find_axis(o->axis, shape.ndim) + 1; i < shape.ndim; i++) inner *= shape.dim[i];
    for (int64_t i = 0; i < mst_tensor_count(rows); i++)
        statistic_add(&s[o->no_axis ? 0 : i / inner % length], mst_tensor_get(rows, i));
}

static mst_status make_weights(const statistic *s, mst_shape shape, bool keep_constant, mst_tensor *out[2]) {
    MST_TRY(mst_tensor_create(MST_F32, shape, &out[0]));
    MST_TRY(mst_tensor_create(MST_F32, shape, &out[1]));
    float *mean = mst_tensor_data(out[0]), *variance = mst_tensor_data(out[1]);
    for (int64_t i = 0; i < mst_shape_count(shape); i++) {
        const double n = s[i].count ? (double)s[i].count : 1, shift = s[i].sum / n, square = s[i].squares / n;
        mean[i] = (float)(s[i].first + shift);
        variance[i] = s[i].count ? (float)fmax(0, square - shift * shift) : 1;
        if (variance[i] == 0 && keep_constant) variance[i] = 1;
    }
    return MST_OK;
}

static mst_status normalization_adapt(void *options, const char *name, mst_layer_rows next, void *context,
                                      mst_tensor *learnt[MST_MAX_LEARNT]) {
    mst_layer_normalization_options *o = options;
    statistic *s = NULL;
    mst_tensor *rows;
    mst_shape shape = {0};
    mst_status status = MST_OK;
    if (o->mean)
        return MST_FAIL(MST_INVALID, "normalization '%s': mean and variance are given, so it learns nothing", name);
    while (!status && !(status = next(context, &rows)) && rows) {
        if (!s) status = statistics_shape(o, name, mst_tensor_shape(rows), &shape);
        if (!s && !status && !(s = calloc((size_t)mst_shape_count(shape) + 1, sizeof *s)))
            status = MST_NO_MEMORY("for means and variances");
        if (!status) add_rows(o, rows, s, mst_shape_count(shape));
        mst_tensor_release(rows);
    }
    if (!status && !s) status = MST_FAIL(MST_INVALID, "normalization '%s': the data has no rows to learn from", name);
    if (!status) status = make_weights(s, shape, o->keep_constant, learnt);
    free(s);
    if (status) return status;
    o->adapted_mean = learnt[0];
    o->adapted_variance = learnt[1];
    return MST_OK;
}

const mst_layer_type mst_layer_type_normalization = {
    .name = "normalization",
    .class_name = "Normalization",
    .options_size = sizeof(mst_layer_normalization_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = normalization_check,
    .weights = weights,
    .build = normalization_build,
    .mask = mst_layer_mask_pass,
    .adapt = normalization_adapt,
};
