/** auc: area under the ROC curve, by the trapezoid rule over .num_thresholds, 200 by default, as Keras' AUC()
 *
 *  The ROC curve is the recall over the false positive rate. Each class is a column with labels of 0 or 1, and all
 *  columns count together. With .positive, which names a class, each example counts once: as positive if it is of that
 *  class, else as negative. The default is then 4000 thresholds. With 4000 the area is exact, except that examples
 *  whose odds differ by less than 1 percent may count as equal. 0 if all elements are positive, or if none is */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_AUC = 10 };
#endif
#include "metric/thresholds.h"

static double part(double count, double all) {
    return all > 0 ? count / all : 0;
}

/* POSITIVES[i] and NEGATIVES[i] are how many elements count at threshold i of N (metric/thresholds.h). */
static double auc_result(const double *positives, const double *negatives, int64_t n) {
    double all_positives = 0, all_negatives = 0, above = 0, false_above = 0, area = 0;
    for (int64_t i = 0; i < n; i++) all_positives += positives[i], all_negatives += negatives[i];
    for (int64_t i = n - 1; i >= 0; i--) { /* from the largest threshold down */
        const double recall = part(above, all_positives), rate = part(false_above, all_negatives);
        above += positives[i];
        false_above += negatives[i];
        area += (part(false_above, all_negatives) - rate) * (part(above, all_positives) + recall) / 2;
    }
    return area;
}

const mst_metric_form mst_metric_form_auc = {
    .larger_is_better = true, .counts = mst_metric_thresholds, .result = auc_result};
