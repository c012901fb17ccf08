/** Counts of predictions between thresholds, from which the areas under curves are computed, as in Keras. If .positive
 *  is set, only the examples of that class count as positive. */
#ifndef MUSTER_METRIC_THRESHOLDS_H
#define MUSTER_METRIC_THRESHOLDS_H

#include "metric/metric.h"

/** Two histograms of the predictions, f64 [.num_thresholds]. The sum counts the elements whose label is not 0, the
 *  count the elements whose label is 0. Each element counts at the largest threshold that its prediction exceeds.
 *  Threshold i of n is i / (n - 1). Every prediction exceeds threshold 0, even 0.
 *
 *  If .positive is set, there is one element for each example. Its label is 1 if the example is of class .positive,
 *  else 0. Its prediction p is the probability of that class. The thresholds are then at equal distances in
 *  log(p / (1 - p)). */
mst_metric_values mst_metric_thresholds(const mst_metric_options *options);

#endif
