/** rmse: root mean squared error, the root of the mean of (label - prediction)^2 over all elements */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_RMSE = 18 };
#endif
#include <math.h>

#include "metric/metric.h"

static mst_metric_values rmse_counts(const mst_metric_options *o) {
    mst_value labels;
    if (!mst_metric_elements(o, &labels)) return (mst_metric_values){labels, labels};
    return mst_metric_mean_of(o, mst_squared_difference(labels, o->predictions));
}

static double rmse_result(const double *sum, const double *count, int64_t n) {
    (void)n;
    return *count > 0 ? sqrt(*sum / *count) : 0;
}

const mst_metric_form mst_metric_form_rmse = {.counts = rmse_counts, .result = rmse_result};
