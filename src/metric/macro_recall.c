/** macro recall: true positive / positive of each class that occurs in labels or predictions, and the mean over these
 *  classes, as scikit-learn's average="macro" */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_MACRO_RECALL = 16 };
#endif
#include "metric/macro.h"

static double macro_recall_of(mst_class_counts r) {
    return r.labels > 0 ? r.right / r.labels : 0;
}

static double macro_recall_result(const double *right, const double *all, int64_t n) {
    return mst_metric_macro_mean(right, all, n, macro_recall_of);
}

const mst_metric_form mst_metric_form_macro_recall = {
    .larger_is_better = true, .counts = mst_metric_macro_counts, .result = macro_recall_result};
