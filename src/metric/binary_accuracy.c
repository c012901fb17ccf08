/** binary accuracy: label == (prediction > threshold); a logit is compared with log(threshold / (1 - threshold)) */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_BINARY_ACCURACY = 4 };
#endif
#include <math.h>

#include "metric/metric.h"

static mst_value binary_accuracy_metric(const mst_metric_options *o) {
    mst_value labels;
    if (!mst_metric_elements(o, &labels)) return labels;
    mst_graph *graph = mst_value_graph(labels);
    mst_dtype dtype = mst_value_spec(labels).dtype;
    double threshold = o->from_logits ? log(o->threshold / (1 - o->threshold)) : o->threshold;
    mst_value chosen = mst_greater(o->predictions, mst_scalar(graph, dtype, threshold));
    return mst_cast(mst_equal(labels, mst_cast(chosen, dtype)), MST_F64);
}

const mst_metric_form mst_metric_form_binary_accuracy = {.larger_is_better = true, .value = binary_accuracy_metric};
