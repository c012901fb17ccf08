/** mean squared error: mean of (label - prediction)^2 over all elements */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_MEAN_SQUARED_ERROR = 6 };
#endif
#include "metric/metric.h"

static mst_value mean_squared_error_metric(const mst_metric_options *o) {
    mst_value labels;
    return mst_metric_elements(o, &labels) ? mst_squared_difference(labels, o->predictions) : labels;
}

const mst_metric_form mst_metric_form_mean_squared_error = {.value = mean_squared_error_metric};
