/** recall: the fraction of the positive elements that are predicted positive. All rows and columns count together:
 *
 *      (elements with label != 0 and prediction > threshold) / (elements with label != 0)
 *
 *  Each class is a column, as in Keras' Recall with one-hot labels. With .positive, the examples of that class are
 *  counted. 0 if no label is positive */
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
