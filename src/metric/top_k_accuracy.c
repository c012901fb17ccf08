/** top-k accuracy: fewer than k predictions of the row are above the label's, and all are finite; labels are [n] */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_TOP_K_ACCURACY = 5 };
#endif
#include "metric/metric.h"

mst_value mst_top_k_accuracy_metric(const mst_metric_options *o) {
    mst_value labels, predictions;
    if (!mst_metric_rows(o, &labels, &predictions)) return labels;
    return mst_cast(mst_in_top_k(predictions, labels, o->k), MST_F64);
}

const mst_metric_form mst_metric_form_top_k_accuracy = {.larger_is_better = true, .value = mst_top_k_accuracy_metric};
