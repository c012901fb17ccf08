/** Counts of examples by class, for the macro means. */
#ifndef MUSTER_METRIC_MACRO_H
#define MUSTER_METRIC_MACRO_H

#include "metric/metric.h"

typedef struct mst_class_counts {
    double right, labels, predicted; /**< examples of the class predicted as it; of the class; predicted as it */
} mst_class_counts;

/** Two f64 [2 * classes]. The first has, for each class, how many of its examples are predicted to be of it; then the
 *  same counts again, since both must have one length. The second has, for each class, how many examples are predicted
 *  to be of it; then how many are of it. The largest column is the prediction. A single column is class 1 of two, and
 *  the threshold decides. Where columns do not exclude each other, the threshold decides for each. */
mst_metric_values mst_metric_macro_counts(const mst_metric_options *options);
/** The mean of FUNCTION over the classes that occur, from the sums of the values of all batches; 0 if none occurs. */
double mst_metric_macro_mean(const double *right, const double *all, int64_t n,
                             double (*function)(mst_class_counts counts));

#endif
