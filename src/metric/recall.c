/** recall: elements that are predicted positive among the positive ones, of all rows and columns together: label is not
 *  0 and prediction > threshold, over label is not 0. Of classes each is a column, as in Keras' Recall with one-hot
 *  labels; with .positive the examples of that class are counted. 0 where no label is positive */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_RECALL = 9 };
#endif
#include "metric/positives.h"

static mst_metric_values recall_metric(const mst_metric_options *o) {
    mst_value labels, predictions;
    if (!mst_metric_positives(o, &labels, &predictions)) return (mst_metric_values){labels, labels};
    return (mst_metric_values){mst_reduce_sum(mst_mul(labels, predictions)), mst_reduce_sum(labels)};
}

const mst_metric_form mst_metric_form_recall = {.larger_is_better = true, .counts = recall_metric};
