/** sparse accuracy: label == argmax of the row; of equal predictions the first counts */
#include "metric/metric.h"

static mst_value value(const mst_metric_options *o) {
    mst_value labels, predictions;
    if (!mst_metric_rows(o, &labels, &predictions)) return labels;
    return mst_cast(mst_equal(labels, mst_argmax(.src = predictions, .axis = -1)), MST_F64);
}

const mst_metric_form mst_metric_form_sparse_accuracy = {.name = "sparse_accuracy", .value = value};
