#include "metric/thresholds.h"

#include "metric/positives.h"

/* p > i / (n - 1) for the i up to ceil(p * (n - 1)) - 1; all are above threshold 0, NaN too */
static mst_value last_threshold(mst_value predictions, int32_t n) {
    const mst_value up = mst_ceil(mst_scale(predictions, n - 1));
    const mst_value last = mst_sub(up, mst_scalar(mst_value_graph(up), mst_value_spec(up).dtype, 1));
    return mst_reshape(mst_clip(mst_cast(last, MST_I64), 0, n - 1), MST_SHAPE(-1));
}

mst_metric_values mst_metric_thresholds(const mst_metric_options *o) {
    const int32_t n = o->num_thresholds;
    mst_value labels, predictions;
    if (!mst_metric_probabilities(o, &labels, &predictions)) return (mst_metric_values){labels, labels};
    const mst_value yes = mst_not_equal(labels, mst_scalar(mst_value_graph(labels), mst_value_spec(labels).dtype, 0));
    /* row 0: of labels that are 0; row 1: of others */
    const mst_value counts = mst_confusion_matrix(mst_reshape(mst_cast(yes, MST_I64), MST_SHAPE(-1)),
                                                  last_threshold(predictions, n), .num_classes = n);
    mst_metric_values values;
    values.sum = mst_reshape(mst_cast(mst_slice(counts, MST_SHAPE(1, 0), MST_SHAPE(1, n)), MST_F64), MST_SHAPE(n));
    values.count = mst_reshape(mst_cast(mst_slice(counts, MST_SHAPE(0, 0), MST_SHAPE(1, n)), MST_F64), MST_SHAPE(n));
    return values;
}
