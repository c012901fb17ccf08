/** What precision, recall, f1 and the areas under curves count: as Keras does it all columns together, or, where
 *  .positive is set, the examples of that class. */
#ifndef MUSTER_METRIC_POSITIVES_H
#define MUSTER_METRIC_POSITIVES_H

#include "metric/metric.h"

/** Elements that are 0 or 1, in the shape of the predictions: LABELS, whether the label is not 0; PREDICTIONS, whether
 *  the prediction is above the threshold. Where there are more columns than labels have, labels are numbers of classes,
 *  and become one-hot rows. With .positive both are [rows]: whether they are of that class. False, and LABELS is an
 *  error value, where the shapes do not fit. */
bool mst_metric_positives(const mst_metric_options *options, mst_value *labels, mst_value *predictions);
/** The same labels as they are, and PREDICTIONS as probabilities: of logits the sigmoid, or of classes that exclude
 *  each other the softmax. Not of a single class. */
bool mst_metric_probabilities(const mst_metric_options *options, mst_value *labels, mst_value *predictions);
/** Of the class .positive: LABELS [rows] f64, 1 where the example is of it, else 0; ODDS [rows], log(p / (1 - p)) of
 *  its probability p. False and an error value as above, or where there is no such class. */
bool mst_metric_odds(const mst_metric_options *options, mst_value *labels, mst_value *odds);

#endif
