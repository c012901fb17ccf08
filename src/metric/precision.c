/** precision: the fraction of the elements predicted positive that are positive. All rows and columns count together:
 *
 *      (elements with label != 0 and prediction > threshold) / (elements with prediction > threshold)
 *
 *  Each class is a column, as in Keras' Precision with one-hot labels. With .positive, the examples of that class are
 *  counted. 0 if no element is predicted positive */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_PRECISION = 8 };
#endif
#include "metric/positives.h"

static mst_metric_values precision_metric(const mst_metric_options *o) {
    mst_value labels, predictions;
    if (!mst_metric_positives(o, &labels, &predictions)) return (mst_metric_values){labels, labels};
    return (mst_metric_values){mst_reduce_sum(mst_mul(labels, predictions)), mst_reduce_sum(predictions)};
}

const mst_metric_form mst_metric_form_precision = {.larger_is_better = true, .counts = precision_metric};
