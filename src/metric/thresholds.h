/** What the areas under curves count, as Keras does it. */
#ifndef MUSTER_METRIC_THRESHOLDS_H
#define MUSTER_METRIC_THRESHOLDS_H

#include "metric/metric.h"

/** Two histograms of the predictions, [.num_thresholds] f64 each: one of elements whose label is not 0, one of those
 *  whose label is 0. Each element counts at the last threshold that its prediction is above. Threshold i of n is
 *  i / (n - 1), but threshold 0 is below all predictions. With .positive the labels are those of that class, and
 *  thresholds are at equal distances in log(p / (1 - p)). */
mst_metric_values mst_metric_thresholds(const mst_metric_options *options);

#endif
