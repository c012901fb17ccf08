/** macro f1: 2 * true positive / (positive + predicted positive) of each class that occurs in labels or predictions,
 *  and the mean over these classes, as scikit-learn's average="macro" */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_MACRO_F1 = 17 };
#endif
#include "metric/macro.h"

static double macro_f1_of(mst_class_counts r) {
    return 2 * r.right / (r.labels + r.predicted);
}

static double macro_f1_result(const double *right, const double *all, int64_t n) {
    return mst_metric_macro_mean(right, all, n, macro_f1_of);
}

const mst_metric_form mst_metric_form_macro_f1 = {
    .larger_is_better = true, .counts = mst_metric_macro_counts, .result = macro_f1_result};
