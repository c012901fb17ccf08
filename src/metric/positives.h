/** The labels and predictions that precision, recall, f1 and the areas under curves count. As in Keras, these are all
 *  columns together. If .positive is set, the metrics count the examples of that class. */
#ifndef MUSTER_METRIC_POSITIVES_H
#define MUSTER_METRIC_POSITIVES_H

#include "metric/metric.h"

/** Makes LABELS and PREDICTIONS, both with elements 0 or 1 in the shape of the predictions. LABELS: 1 where the label
 *  is not 0. PREDICTIONS: 1 where the prediction is above the threshold. If predictions have more columns than labels,
 *  labels are class numbers, and become one-hot rows. With .positive both are [rows], with 1 for examples of that
 *  class. Returns false if the shapes do not fit; LABELS is then an error value. */
bool mst_metric_positives(const mst_metric_options *options, mst_value *labels, mst_value *predictions);
/** As mst_metric_positives, but labels keep their values, and PREDICTIONS are probabilities: logits are converted by
 *  the sigmoid, or by the softmax if classes exclude each other. Not with .positive. */
bool mst_metric_probabilities(const mst_metric_options *options, mst_value *labels, mst_value *predictions);
/** For the class .positive: LABELS [rows] f64, 1 if the example is of this class, else 0; ODDS [rows], the log odds
 *  log(p / (1 - p)) of its predicted probability p. Returns false if the shapes do not fit or there is no such class;
 *  LABELS is then an error value. */
bool mst_metric_odds(const mst_metric_options *options, mst_value *labels, mst_value *odds);

#endif
