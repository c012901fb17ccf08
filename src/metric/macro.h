/** Counts of examples by class, for the macro means. */
#ifndef MUSTER_METRIC_MACRO_H
#define MUSTER_METRIC_MACRO_H

#include "metric/metric.h"

typedef struct mst_class_counts {
    double right, labels, predicted; /**< examples of the class predicted as it; of the class; predicted as it */
} mst_class_counts;

/** The counts of one batch, two f64 [2 * classes]. The sum has the true positives of each class, twice, because both
 *  vectors must have the same length. The count has the predicted positives of each class, and then the positives of
 *  each class. The predicted class is the largest column. A single column is class 1 of two: the threshold decides. If
 *  columns do not exclude each other, the threshold decides for each column. */
mst_metric_values mst_metric_macro_counts(const mst_metric_options *options);
/** The mean of FUNCTION over the classes that occur in labels or predictions; 0 if none occurs. RIGHT and ALL [n] are
 *  the two vectors of mst_metric_macro_counts, added up over all batches. */
double mst_metric_macro_mean(const double *right, const double *all, int64_t n,
                             double (*function)(mst_class_counts counts));

#endif
