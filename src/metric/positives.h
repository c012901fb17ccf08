/** What precision and recall count, as Keras does it. */
#ifndef MUSTER_METRIC_POSITIVES_H
#define MUSTER_METRIC_POSITIVES_H

#include "metric/metric.h"

/** Elements that are 0 or 1, in the shape of the predictions: LABELS, whether the label is not 0; PREDICTIONS, whether
 *  the prediction is above the threshold. Where there are more columns than labels have, labels are numbers of classes,
 *  and become one-hot rows. False, and LABELS is an error value, where the shapes do not fit. */
bool mst_metric_positives(const mst_metric_options *options, mst_value *labels, mst_value *predictions);
/** The same labels as they are, and PREDICTIONS as probabilities: of logits the sigmoid, or of classes that exclude
 *  each other the softmax. */
bool mst_metric_probabilities(const mst_metric_options *options, mst_value *labels, mst_value *predictions);

#endif
