/** macro precision: true positive / predicted positive of each class that occurs in labels or predictions, and the mean
 *  over these classes, as scikit-learn's average="macro" */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_MACRO_PRECISION = 15 };
#endif
#include "metric/macro.h"

static double macro_precision_of(mst_class_counts r) {
    return r.predicted > 0 ? r.right / r.predicted : 0;
}

static double macro_precision_result(const double *right, const double *all, int64_t n) {
    return mst_metric_macro_mean(right, all, n, macro_precision_of);
}

const mst_metric_form mst_metric_form_macro_precision = {
    .larger_is_better = true, .counts = mst_metric_macro_counts, .result = macro_precision_result};
