/** discretization: dst = the number of the bin of src, which is the number of boundaries <= src
 *
 *  src             [n] or [n, ...]
 *  bin_boundaries  f32 [k], in rising order; they make k + 1 bins: bin 0 is below the first boundary, and bin i begins
 *                  at boundary i - 1
 *  num_bins        instead of bin_boundaries, at least 2: mst_adapt learns boundaries such that each bin gets about the
 *                  same number of values of the data. The layer then keeps the boundaries in a weight
 *  epsilon         precision of the learnt boundaries, as in Keras: they come from about 1 / epsilon quantiles of the
 *                  data; default 0.01
 *  output_mode     default INT, i32 like src; the others are those of category_encoding, with k + 1 or num_bins columns
 *  name            default discretization, discretization_1, ...
 *
 *  Weights if num_bins is given: bin_boundaries [num_bins - 1], which is not trained. Before mst_adapt all boundaries
 *  are infinite. If the data has too few numbers, the last ones stay so. In Keras boundaries belong to the
 *  configuration.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_discretization_options {
    int zero_;
    mst_tensor *bin_boundaries;
    int64_t num_bins;
    double epsilon;
    mst_output_mode output_mode;
    const char *name;
    mst_tensor *adapted_boundaries; /**< set by mst_adapt: the initial values of the weight */
} mst_layer_discretization_options;
#define mst_discretization(source, ...) \
    MST_LAYER(discretization, source, MST_NAMED(mst_layer_discretization_options, __VA_ARGS__))
#endif
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "layer/encode.h"
#include "muster/ops.h"

enum { MOST_BINS = 1000000 };

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_discretization_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(TENSOR, bin_boundaries, "in rising order"),
    FIELD(I64, num_bins, 0, 0, MOST_BINS, "in place of boundaries"),
    FIELD(F64, epsilon, 0.01, 1e-6, 1, "precision of what is learnt"),
    FIELD(ENUM, output_mode, 0, mst_output_mode_names, "form of the output"),
    FIELD(STRING, name, "of the layer"),
    FIELD(TENSOR, adapted_boundaries, "the initial value of the weight"),
    MST_FIELD_END,
};

static mst_status discretization_check(const void *options, const char *name) {
    const mst_layer_discretization_options *o = options;
    if (!o->bin_boundaries == !o->num_bins)
        return MST_FAIL(MST_INVALID, "discretization '%s': give either bin_boundaries or num_bins", name);
    if (o->num_bins == 1) return MST_FAIL(MST_INVALID, "discretization '%s': num_bins is 1, must be 2 or more", name);
    if (!o->bin_boundaries) return MST_OK;
    const mst_tensor *given = o->bin_boundaries;
    if (mst_tensor_dtype(given) != MST_F32 || mst_tensor_shape(given).ndim != 1 || mst_tensor_count(given) < 1)
        return MST_FAIL(MST_INVALID, "discretization '%s': bin_boundaries must be f32 [k]", name);
    for (int64_t i = 1; i < mst_tensor_count(given); i++)
        if (!(mst_tensor_get(given, i) >= mst_tensor_get(given, i - 1)))
            return MST_FAIL(MST_INVALID, "discretization '%s': boundary %lld is below the one before", name,
                            (long long)i);
    return MST_OK;
}

/* ---- graph ---- */

static mst_status weights(mst_layer_call *call) {
    const mst_layer_discretization_options *o = call->options;
    if (o->bin_boundaries) return MST_OK;
    mst_layer_weight(call, .name = "bin_boundaries", .shape = MST_SHAPE(o->num_bins - 1), .not_trainable = true,
                     .initializer = o->adapted_boundaries ? mst_tensor_initializer(o->adapted_boundaries)
                                                          : mst_constant_initializer(INFINITY));
    return MST_OK;
}

static mst_value discretization_build(const mst_layer_call *call) {
    const mst_layer_discretization_options *o = call->options;
    const mst_value boundaries = o->bin_boundaries ? mst_constant(call->graph, o->bin_boundaries) : call->weight[0];
    const mst_value x = mst_expand_dims(mst_cast(call->src[0], MST_F32), -1);
    const mst_value reached = mst_cast(mst_greater_equal(x, boundaries), MST_I32);
    return mst_layer_encode(mst_reduce_sum(reached, .axes = MST_AXES(-1)),
                            o->output_mode ? o->output_mode : MST_OUTPUT_MODE_INT,
                            mst_value_spec(boundaries).shape.dim[0] + 1);
}

/* ---- what it learns: the quantiles of keras.layers.Discretization.adapt ---- */

/* Values in rising order. Value i stands for weight[i] numbers of the data. */
typedef struct summary {
    float *value, *weight;
    int64_t n;
} summary;

typedef struct numbers {
    float *x;
    int64_t n, capacity;
} numbers;

static int discretization_compare(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static mst_status collect(numbers *all, const mst_tensor *rows) {
    const int64_t n = mst_tensor_count(rows);
    if (all->n + n > all->capacity) {
        const int64_t capacity = 2 * (all->n + n);
        float *grown = realloc(all->x, (size_t)capacity * sizeof *grown);
        if (!grown) return MST_NO_MEMORY("for %lld numbers that boundaries are learnt from", (long long)capacity);
        all->x = grown;
        all->capacity = capacity;
    }
    for (int64_t i = 0; i < n; i++) {
        const float x = (float)mst_tensor_get(rows, i);
        if (!isnan(x)) all->x[all->n++] = x;
    }
    return MST_OK;
}

/* The value at X of the piecewise linear function through the points (XS, YS), constant beyond its ends (np.interp). */
static double interpolate(double x, const double *xs, const float *ys, int64_t n) {
    int64_t i = 0;
    if (n < 2 || x <= xs[0]) return (double)ys[0];
    if (x >= xs[n - 1]) return (double)ys[n - 1];
    for (int64_t end = n - 1; end - i > 1;) {
        const int64_t middle = (i + end) / 2;
        if (xs[middle] <= x)
            i = middle;
        else
            end = middle;
    }
    const double slope = ((double)ys[i + 1] - (double)ys[i]) / (xs[i + 1] - xs[i]);
    return slope * (x - xs[i]) + (double)ys[i];
}

/* Reduces S to about 1 / EPSILON values. PLACE and SUM are scratch memory for as many elements as S has now. */
static void compress(summary *s, double epsilon, double *place, float *sum) {
    if (s->n < 2 || (double)s->n * epsilon < 1) return;
    const int64_t n = (int64_t)ceil(1 / epsilon), most = n < s->n ? n : s->n;
    for (int64_t i = 0; i < s->n; i++) sum[i] = s->weight[i] + (i ? sum[i - 1] : 0);
    for (int64_t i = 0; i < s->n; i++) place[i] = (double)(sum[i] / sum[s->n - 1]);
    float *value = s->value + s->n, *weight = s->weight + s->n; /* there is room for twice as many */
    double before = 0;
    for (int64_t i = 0; i < most; i++) {
        const double percent = epsilon + (double)i * epsilon, reached = interpolate(percent, place, sum, s->n);
        value[i] = (float)interpolate(percent, place, s->value, s->n);
        weight[i] = (float)(reached - before);
        before = reached;
    }
    memmove(s->value, value, (size_t)most * sizeof *value);
    memmove(s->weight, weight, (size_t)most * sizeof *weight);
    s->n = most;
}

/* Makes the summary S of the numbers ALL. S has room for twice as many values as there are numbers. */
static void summarize(const numbers *all, double epsilon, summary *s) {
    const double increment = (double)all->n / (1 / epsilon), step = increment > 1 ? increment : 1;
    qsort(all->x, (size_t)all->n, sizeof *all->x, discretization_compare);
    for (int64_t i = (int64_t)(step - 1); i < all->n; i += (int64_t)step) {
        s->value[s->n] = all->x[i];
        s->weight[s->n++] = (float)step;
    }
}

static mst_status find_boundaries(const mst_layer_discretization_options *o, const numbers *all, mst_tensor **out) {
    const size_t n = (size_t)all->n;
    float *memory = malloc(5 * n * sizeof *memory); /* values and weights, 2 n each, and n sums for `compress` */
    double *place = malloc(n * sizeof *place);
    summary s = {.value = memory, .weight = memory + 2 * n};
    mst_status status =
        memory && place ? mst_tensor_create(MST_F32, MST_SHAPE(o->num_bins - 1), out) : MST_NO_MEMORY("for boundaries");
    if (!status) {
        summarize(all, o->epsilon, &s);
        compress(&s, o->epsilon, place, memory + 4 * n);
        compress(&s, 1 / (double)o->num_bins, place, memory + 4 * n);
        float *boundary = mst_tensor_data(*out);
        for (int64_t i = 0; i < o->num_bins - 1; i++) boundary[i] = i < s.n - 1 ? s.value[i] : INFINITY;
    }
    free(memory);
    free(place);
    return status;
}

static mst_status discretization_adapt(void *options, const char *name, mst_layer_rows next, void *context,
                                       mst_tensor *learnt[MST_MAX_LEARNT]) {
    mst_layer_discretization_options *o = options;
    numbers all = {0};
    mst_tensor *rows;
    mst_status status = MST_OK;
    if (o->bin_boundaries)
        return MST_FAIL(MST_INVALID, "discretization '%s': bin_boundaries are given, so it learns nothing", name);
    while (!status && !(status = next(context, &rows)) && rows) {
        status = collect(&all, rows);
        mst_tensor_release(rows);
    }
    if (!status && !all.n) status = MST_FAIL(MST_INVALID, "discretization '%s': the data has no numbers", name);
    if (!status) status = find_boundaries(o, &all, &learnt[0]);
    free(all.x);
    o->adapted_boundaries = learnt[0];
    return status;
}

const mst_layer_type mst_layer_type_discretization = {
    .name = "discretization",
    .class_name = "Discretization",
    .options_size = sizeof(mst_layer_discretization_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = discretization_check,
    .weights = weights,
    .build = discretization_build,
    .adapt = discretization_adapt,
};
