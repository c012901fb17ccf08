/** Counts of predictions between thresholds, from which the areas under curves are computed, as in Keras. If .positive
 *  is set, only the examples of that class count as positive. */
#ifndef MUSTER_METRIC_THRESHOLDS_H
#define MUSTER_METRIC_THRESHOLDS_H

#include "metric/metric.h"

/** Two histograms of the predictions, [.num_thresholds] f64 each: one of elements whose label is not 0, one of those
 *  whose label is 0. Each element counts at the last threshold that its prediction is above. Threshold i of n is
 *  i / (n - 1). Threshold 0 is taken as below all predictions. If .positive is set, there is one element for each
 *  example: its label is 1 if the example is of class .positive, else 0. Its prediction p is the probability of that
 *  class. The thresholds are then at equal distances in log(p / (1 - p)). */
mst_metric_values mst_metric_thresholds(const mst_metric_options *options);

#endif
