/** f1: 2 * precision * recall / (precision + recall) = 2 * true positive / (predicted positive + positive)
 *
 *  Elements are counted as for precision and recall. 0 if the denominator is 0 */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_F1 = 14 };
#endif
#include "metric/positives.h"

static mst_metric_values f1_metric(const mst_metric_options *o) {
    mst_value labels, predictions;
    if (!mst_metric_positives(o, &labels, &predictions)) return (mst_metric_values){labels, labels};
    return (mst_metric_values){mst_scale(mst_reduce_sum(mst_mul(labels, predictions)), 2),
                               mst_add(mst_reduce_sum(labels), mst_reduce_sum(predictions))};
}

const mst_metric_form mst_metric_form_f1 = {.larger_is_better = true, .counts = f1_metric};
