/** Counts of examples by class, for the macro means. */
#ifndef MUSTER_METRIC_MACRO_H
#define MUSTER_METRIC_MACRO_H

#include "metric/metric.h"

typedef struct mst_class_counts {
    double right, labels, predicted; /**< examples both of the class and predicted to be; of the class; predicted */
} mst_class_counts;

/** Two f64 [2 * classes]. First, for each class, the examples of it that are also predicted to be of it, and the same
 *  counts once more; second, the examples predicted to be of each class, then those of each class. The largest column
 *  is the prediction. A single column is class 1 of two: the threshold decides. Columns that do not exclude each other
 *  are classes that each have the threshold. */
mst_metric_values mst_metric_macro_counts(const mst_metric_options *options);
/** The mean of FUNCTION over the classes that occur, from the sums of the values of all batches; 0 if none occurs. */
double mst_metric_macro_mean(const double *right, const double *all, int64_t n,
                             double (*function)(mst_class_counts counts));

#endif
