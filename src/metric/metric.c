/* The functions of muster/metric.h, and helpers that several metrics share. */
#include "metric/metric.h"

#include <string.h>

#include "base/argument.h"
#include "base/did_you_mean.h"
#include "graph/field.h"
#include "graph/spec.h"

enum { MOST_THRESHOLDS = 10000 };

const char *mst_metric_name(mst_metric metric) {
    if (metric == MST_METRIC_NONE) return "";
    return (unsigned)metric < MST_NUM_METRICS ? mst_metric_names[metric] : NULL;
}

mst_status mst_metric_from_name(const char *name, mst_metric *out) {
    if (MST_IS_NULL(name) || MST_IS_NULL(out)) return MST_INVALID;
    for (int i = 1; i < MST_NUM_METRICS; i++) {
        if (strcmp(mst_metric_names[i], name) != 0) continue;
        *out = (mst_metric)i;
        return MST_OK;
    }
    char guess[MST_DID_YOU_MEAN_TEXT];
    return MST_FAIL(MST_INVALID, "there is no metric '%s'%s", name,
                    mst_did_you_mean(name, mst_metric_names + 1, guess, sizeof guess));
}

mst_value mst_metric_fail(const mst_metric_options *o, const char *what) {
    char left[MST_SPEC_TEXT], right[MST_SPEC_TEXT];
    mst_spec a = mst_value_spec(o->labels), b = mst_value_spec(o->predictions);
    return mst_value_fail(mst_value_graph(o->predictions), MST_INVALID, "%s: %s: labels '%s' %s, predictions '%s' %s",
                          mst_metric_names[o->metric], what, mst_value_name(o->labels),
                          mst_spec_print(&a, left, sizeof left), mst_value_name(o->predictions),
                          mst_spec_print(&b, right, sizeof right));
}

bool mst_metric_rows(const mst_metric_options *o, mst_value *labels, mst_value *predictions) {
    mst_shape t = mst_value_spec(o->labels).shape, p = mst_value_spec(o->predictions).shape;
    /* labels may have a last dimension of 1 */
    if (t.ndim == p.ndim && t.ndim > 0 && t.dim[t.ndim - 1] == 1) t.ndim--;
    if (p.ndim < 2 || t.ndim != p.ndim - 1 || !mst_dims_agree(&t, &p, t.ndim)) {
        *labels = mst_metric_fail(o, "labels must be class numbers, one for each row of predictions");
        return false;
    }
    if (p.ndim > 2 && p.dim[p.ndim - 1] < 0) {
        *labels = mst_metric_fail(o, "the number of classes must be known");
        return false;
    }
    bool flat = mst_value_spec(o->labels).shape.ndim == 1;
    *labels = flat ? o->labels : mst_reshape(o->labels, MST_SHAPE(-1));
    const mst_dtype dtype = mst_value_spec(*labels).dtype;
    if (dtype == MST_F32 || dtype == MST_F64)
        *labels = mst_class_number(*labels);
    else if (dtype != MST_I64)
        *labels = mst_cast(*labels, MST_I64);
    *predictions = p.ndim == 2 ? o->predictions : mst_reshape(o->predictions, MST_SHAPE(-1, p.dim[p.ndim - 1]));
    return true;
}

/* 1 where the label is not .ignore_class, else 0. */
static mst_value are_counted(const mst_metric_options *o) {
    mst_value labels = mst_reshape(o->labels, MST_SHAPE(-1));
    /* u8 does not hold every number, such as -1 */
    if (!mst_dtype_is_float(mst_value_spec(labels).dtype)) labels = mst_cast(labels, MST_I64);
    const mst_value ignored = mst_scalar(mst_value_graph(labels), mst_value_spec(labels).dtype, o->ignore_class);
    return mst_cast(mst_not_equal(labels, ignored), MST_F64);
}

/* .mask broadcast over the dimensions that it lacks, as [positions]. */
static mst_value mask_of_positions(const mst_metric_options *o) {
    mst_value mask = mst_cast(o->mask, MST_F64);
    const int have = mst_value_spec(mask).shape.ndim, want = mst_value_spec(o->predictions).shape.ndim - 1;
    if (have > want) return mst_metric_fail(o, "the mask has more dimensions than the predictions have positions");
    for (int i = have; i < want; i++) mask = mst_expand_dims(mask, -1);
    if (have < want) mask = mst_broadcast_like(mask, mst_reduce_max(o->predictions, .axes = MST_AXES(-1)));
    return mst_reshape(mask, MST_SHAPE(-1));
}

mst_value mst_metric_counted(const mst_metric_options *o) {
    const bool ignores = mst_number_given(o->ignore_class), masked = !mst_value_is_none(o->mask);
    if (ignores && masked) return mst_mul(are_counted(o), mask_of_positions(o));
    return ignores ? are_counted(o) : masked ? mask_of_positions(o) : MST_NONE;
}

mst_value mst_metric_without_ignored(const mst_metric_options *o, mst_value src) {
    const mst_value counted = mst_metric_counted(o);
    const mst_shape shape = mst_value_spec(src).shape;
    if (mst_value_is_none(counted)) return src;
    if (shape.ndim < 2) return mst_mul(src, counted);
    return mst_mul(mst_reshape(src, MST_SHAPE(-1, shape.dim[shape.ndim - 1])), mst_expand_dims(counted, -1));
}

mst_metric_values mst_metric_mean_of(const mst_metric_options *o, mst_value src) {
    mst_value counted = mst_metric_counted(o);
    if (mst_value_is_none(src) || mst_value_is_none(counted)) return mst_metric_mean(src);
    const mst_shape p = mst_value_spec(o->predictions).shape;
    const int64_t columns = mst_value_spec(src).shape.ndim == p.ndim && p.ndim > 1 ? p.dim[p.ndim - 1] : 1;
    if (columns < 0) {
        src = mst_metric_fail(o, "the number of columns must be known");
        return (mst_metric_values){src, src};
    }
    src = mst_reshape(mst_cast(src, MST_F64), MST_SHAPE(-1, columns));
    return (mst_metric_values){mst_reduce_sum(mst_mul(src, mst_expand_dims(counted, -1))),
                               mst_scale(mst_reduce_sum(counted), (double)columns)};
}

bool mst_metric_elements(const mst_metric_options *o, mst_value *labels) {
    mst_spec t = mst_value_spec(o->labels), p = mst_value_spec(o->predictions);
    *labels = t.dtype == p.dtype ? o->labels : mst_cast(o->labels, p.dtype);
    const int t_ndim = t.shape.ndim, p_ndim = p.shape.ndim;
    const bool to_column = t_ndim > 0 && p_ndim == t_ndim + 1 && p.shape.dim[t_ndim] == 1;
    if (to_column) *labels = mst_expand_dims(*labels, -1);
    const bool from_column = p_ndim > 0 && t_ndim == p_ndim + 1 && t.shape.dim[p_ndim] == 1;
    if (from_column) *labels = mst_squeeze(.src = *labels, .axes = MST_AXES(-1));
    t = mst_value_spec(*labels);
    if (t.shape.ndim == p.shape.ndim && mst_dims_agree(&t.shape, &p.shape, p.shape.ndim)) return true;
    *labels = mst_metric_fail(o, "shapes differ");
    return false;
}

mst_metric_values mst_metric_mean(mst_value src) {
    mst_metric_values values = {src, src};
    if (!src.node) mst_value_fail(NULL, MST_INVALID, "metric_mean: src is no value");
    if (mst_value_is_none(src)) return values;
    mst_spec spec = mst_value_spec(src);
    values.sum = mst_reduce_sum(.src = spec.dtype == MST_F64 ? src : mst_cast(src, MST_F64));
    values.count = mst_scalar(mst_value_graph(src), MST_F64, 1);
    for (int i = 0; i < spec.shape.ndim; i++) values.count = mst_mul(values.count, mst_dim_size(src, i, MST_F64));
    return values;
}

/* Sets *OK to whether the options are valid. Returns an error value if they are not, otherwise MST_NONE. */
static mst_value metric_check(const mst_metric_options *o, bool *ok) {
    mst_graph *graph = mst_value_graph(o->predictions);
    *ok = false;
    if ((unsigned)o->metric >= MST_NUM_METRICS || o->metric == MST_METRIC_NONE)
        return mst_value_fail(graph, MST_INVALID, "metric is %d, must be one of mst_metric", (int)o->metric);
    if (mst_value_is_none(o->labels) || mst_value_is_none(o->predictions))
        return mst_value_fail(graph, MST_INVALID, "%s: there are no labels or no predictions",
                              mst_metric_names[o->metric]);
    if (!mst_dtype_is_float(mst_value_spec(o->predictions).dtype))
        return mst_metric_fail(o, "predictions must be f32 or f64");
    *ok = true;
    return MST_NONE;
}

/* Whether .ignore_class can be used: it is not given, or the labels are class numbers. If not, FAILED becomes an error
 * value. */
static bool check_ignoring(const mst_metric_options *o, mst_value *failed) {
    const mst_shape t = mst_value_spec(o->labels).shape, p = mst_value_spec(o->predictions).shape;
    const int64_t columns = p.ndim ? p.dim[p.ndim - 1] : 1;
    if (!mst_number_given(o->ignore_class)) return true;
    if (columns != 1 && t.ndim > 0 && (t.ndim != p.ndim || t.dim[t.ndim - 1] == 1)) return true;
    *failed = mst_metric_fail(o, "ignore_class is for labels that are class numbers");
    return false;
}

mst_metric_values mst_metric_batch_with(mst_metric_options o) {
    bool ok;
    mst_value failed = metric_check(&o, &ok);
    if (!ok) return (mst_metric_values){failed, failed};
    if (o.k == 0) o.k = 5;
    if (!mst_number_given(o.threshold)) o.threshold = 0.5;
    if (o.num_thresholds == 0) o.num_thresholds = o.positive ? 4000 : 200;
    if (o.num_thresholds < 2 || o.num_thresholds > MOST_THRESHOLDS) {
        failed = mst_value_fail(mst_value_graph(o.predictions), MST_INVALID,
                                "%s: num_thresholds is %d, must be from 2 to %d", mst_metric_names[o.metric],
                                (int)o.num_thresholds, MOST_THRESHOLDS);
        return (mst_metric_values){failed, failed};
    }
    const mst_metric_form *form = mst_metric_table[o.metric];
    if (!check_ignoring(&o, &failed)) return (mst_metric_values){failed, failed};
    return form->counts ? form->counts(&o) : mst_metric_mean_of(&o, form->value(&o));
}

double mst_metric_value(mst_metric metric, const mst_tensor *sum, const mst_tensor *count) {
    if (MST_IS_NULL(sum) || MST_IS_NULL(count)) return 0;
    const mst_metric_form *form = (unsigned)metric < MST_NUM_METRICS ? mst_metric_table[metric] : NULL;
    const int64_t n = mst_tensor_count(sum);
    if (form && form->result && mst_tensor_dtype(sum) == MST_F64 && mst_tensor_dtype(count) == MST_F64 &&
        mst_tensor_count(count) == n)
        return form->result(mst_tensor_data(sum), mst_tensor_data(count), n);
    const double elements = mst_tensor_get(count, 0);
    return elements > 0 ? mst_tensor_get(sum, 0) / elements : 0;
}

void mst_metric_add(mst_metric_state *state, double sum, double count) {
    if (MST_IS_NULL(state)) return;
    state->sum += sum;
    state->count += count;
}

double mst_metric_result(const mst_metric_state *state) {
    if (MST_IS_NULL(state)) return 0;
    return state->count != 0 ? state->sum / state->count : 0;
}

void mst_metric_reset(mst_metric_state *state) {
    if (MST_IS_NULL(state)) return;
    *state = (mst_metric_state){0};
}
