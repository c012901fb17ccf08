/** mean absolute error: mean of |label - prediction| over all elements */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_MEAN_ABSOLUTE_ERROR = 7 };
#endif
#include "metric/metric.h"

static mst_value mean_absolute_error_metric(const mst_metric_options *o) {
    mst_value labels;
    return mst_metric_elements(o, &labels) ? mst_abs(mst_sub(labels, o->predictions)) : labels;
}

const mst_metric_form mst_metric_form_mean_absolute_error = {.value = mean_absolute_error_metric};
