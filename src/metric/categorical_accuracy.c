/** categorical accuracy: argmax of the labels == argmax of the predictions, both [n, classes], along the last axis */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_CATEGORICAL_ACCURACY = 3 };
#endif
#include "metric/metric.h"

static mst_value categorical_accuracy_metric(const mst_metric_options *o) {
    mst_value labels;
    if (!mst_metric_elements(o, &labels)) return labels;
    mst_value hit = mst_equal(mst_argmax(.src = labels, .axis = -1), mst_argmax(.src = o->predictions, .axis = -1));
    return mst_cast(hit, MST_F64);
}

const mst_metric_form mst_metric_form_categorical_accuracy = {.larger_is_better = true,
                                                              .value = categorical_accuracy_metric};
