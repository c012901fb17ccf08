/** pr_auc: area under the curve of precision over recall, with .num_thresholds as for auc, as Keras' AUC(curve="PR")
 *
 *  Between two thresholds, the true positives are interpolated linearly in the predicted positives (Davis and Goadrich,
 *  2006). Each class is a column with labels of 0 or 1, and all columns count together. With .positive, the examples of
 *  that class are counted, as for auc. 0 if no label is positive */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_PR_AUC = 11 };
#endif
#include <math.h>

#include "metric/thresholds.h"

/* The area between two neighbouring thresholds. At the higher one, ABOVE elements are predicted positive, and
 * TRUE_ABOVE of these are positive. The lower one adds MORE and MORE_TRUE to them. The area is the integral of
 * (slope * all + intercept) / all over the true positives, where all is the number of elements that are predicted
 * positive, and slope = MORE_TRUE / MORE. */
static double pr_auc_part(double true_above, double above, double more_true, double more) {
    if (more <= 0) return 0;
    const double slope = more_true / more, intercept = true_above - slope * above;
    return slope * (more_true + (above > 0 ? intercept * log((above + more) / above) : 0));
}

/* POSITIVES[i] and NEGATIVES[i] are how many elements count at threshold i of N (metric/thresholds.h). */
static double pr_auc_result(const double *positives, const double *negatives, int64_t n) {
    double true_above = 0, above = 0, area = 0;
    for (int64_t i = n - 1; i >= 0; i--) { /* from the largest threshold down */
        const double more = positives[i] + negatives[i];
        area += pr_auc_part(true_above, above, positives[i], more);
        true_above += positives[i];
        above += more;
    }
    return true_above > 0 ? area / true_above : 0;
}

const mst_metric_form mst_metric_form_pr_auc = {
    .larger_is_better = true, .counts = mst_metric_thresholds, .result = pr_auc_result};
