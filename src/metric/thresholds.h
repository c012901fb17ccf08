/** What the areas under curves count, as Keras does it. */
#ifndef MUSTER_METRIC_THRESHOLDS_H
#define MUSTER_METRIC_THRESHOLDS_H

#include "metric/metric.h"

/** [.num_thresholds] f64 each: the elements with a label that is not 0, and those with 0, by the last threshold that
 *  their prediction is above. With n thresholds number i is i / (n - 1), but number 0 is below all. With .positive the
 *  labels are those of that class, and thresholds are at equal distances in log(p / (1 - p)). */
mst_metric_values mst_metric_thresholds(const mst_metric_options *options);

#endif
