/** sparse accuracy: label [n] or [n, 1] == argmax of the row of predictions [n, classes]; the first of equal ones
 *  counts */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_SPARSE_ACCURACY = 2 };
#endif
#include "metric/metric.h"

mst_value mst_sparse_accuracy_metric(const mst_metric_options *o) {
    mst_value labels, predictions;
    if (!mst_metric_rows(o, &labels, &predictions)) return labels;
    return mst_cast(mst_equal(labels, mst_argmax(.src = predictions, .axis = -1)), MST_F64);
}

const mst_metric_form mst_metric_form_sparse_accuracy = {.larger_is_better = true, .value = mst_sparse_accuracy_metric};
