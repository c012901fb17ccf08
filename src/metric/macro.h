/** What the macro means count: examples by class. */
#ifndef MUSTER_METRIC_MACRO_H
#define MUSTER_METRIC_MACRO_H

#include "metric/metric.h"

typedef struct mst_class_counts {
    double right, labels, predicted; /**< examples that are both; of the class; predicted to be of it */
} mst_class_counts;

/** Two f64 [2 * classes]: twice the examples of each class that are predicted to be of it; and the examples that are
 *  predicted to be of it, then those of it. The prediction is the largest column; of a single column, class 1 of two,
 *  and of columns that do not exclude each other, each a class, what is above the threshold. */
mst_metric_values mst_metric_macro_counts(const mst_metric_options *options);
/** The mean of FUNCTION over the classes that are there, of the values of all batches added up; 0: there is none. */
double mst_metric_macro_mean(const double *right, const double *all, int64_t n,
                             double (*function)(mst_class_counts counts));

#endif
