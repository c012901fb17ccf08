#include "metric/thresholds.h"

#include "metric/positives.h"

/* Log odds are clipped to +-LIMIT: f32 has no probability between 1 - exp(-LIMIT) and 1. */
static const double LIMIT = 20;

/* The index of the largest of N thresholds that UNIT, from 0 to 1, exceeds. Threshold i is i / (n - 1), so the index is
 * ceil(unit * (n - 1)) - 1. It is at least 0, even for 0 and NaN. */
static mst_value last_threshold(mst_value unit, int32_t n) {
    const mst_value up = mst_ceil(mst_scale(unit, n - 1));
    const mst_value last = mst_sub(up, mst_scalar(mst_value_graph(up), mst_value_spec(up).dtype, 1));
    return mst_reshape(mst_clip(mst_cast(last, MST_I64), 0, n - 1), MST_SHAPE(-1));
}

/* For one class, thresholds are at equal distances in the log odds log(p / (1 - p)), so that they also separate the
 * small probabilities of a rare class. */
static mst_value class_threshold(mst_value odds, int32_t n) {
    const mst_value cut = mst_clip(odds, -LIMIT, LIMIT);
    const mst_value shift = mst_scalar(mst_value_graph(cut), mst_value_spec(cut).dtype, LIMIT);
    return last_threshold(mst_scale(mst_add(cut, shift), 1 / (2 * LIMIT)), n);
}

mst_metric_values mst_metric_thresholds(const mst_metric_options *o) {
    const int32_t n = o->num_thresholds;
    mst_value labels, predictions;
    const bool fits =
        o->positive ? mst_metric_odds(o, &labels, &predictions) : mst_metric_probabilities(o, &labels, &predictions);
    if (!fits) return (mst_metric_values){labels, labels};
    const mst_value last = o->positive ? class_threshold(predictions, n) : last_threshold(predictions, n);
    mst_graph *graph = mst_value_graph(labels);
    const mst_value zero = mst_scalar(graph, mst_value_spec(labels).dtype, 0);
    const mst_value is_positive = mst_cast(mst_not_equal(labels, zero), MST_F64);
    const mst_value is_negative = mst_sub(mst_scalar(graph, MST_F64, 1), is_positive);
    const mst_value yes = mst_reshape(mst_metric_without_ignored(o, is_positive), MST_SHAPE(-1));
    const mst_value no = mst_reshape(mst_metric_without_ignored(o, is_negative), MST_SHAPE(-1));
    const mst_value places = mst_expand_dims(last, -1);
    return (mst_metric_values){mst_scatter_nd(places, yes, MST_SHAPE(n)), mst_scatter_nd(places, no, MST_SHAPE(n))};
}
