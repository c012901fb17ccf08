/** Histograms as in TensorFlow's summaries: buckets whose limits are 10% apart. */
#ifndef MUSTER_SUMMARY_HISTOGRAM_H
#define MUSTER_SUMMARY_HISTOGRAM_H

#include "muster/tensor.h"

/** Bucket i counts limit[i - 1] <= x < limit[i]. The limits are 0, all 1e-12 * 1.1^k below 1e20, the largest f64, and
 *  the negatives of these. Source: tensorflow/core/lib/histogram/histogram.cc. */
enum { MST_HISTOGRAM_BUCKETS = 1551 };

typedef struct mst_histogram {
    double min, max;         /**< if no numbers were counted: the largest and the smallest f64 */
    double num;              /**< how many numbers were counted */
    double sum, sum_squares; /**< of the counted numbers */
    double bucket[MST_HISTOGRAM_BUCKETS];
} mst_histogram;

/** The limits of the buckets, MST_HISTOGRAM_BUCKETS of them. */
const double *mst_histogram_limits(void);
/** Counts the elements of VALUES, of any dtype. NaN and infinities are ignored. */
void mst_histogram_count(const mst_tensor *values, mst_histogram *out);
/** Makes the form in which a histogram is written: neighbouring empty buckets become one bucket. LIMIT and COUNT get
 *  the upper limits and the counts, and have room for all buckets. Returns the number of buckets. */
int mst_histogram_compress(const mst_histogram *histogram, double *limit, double *count);

#endif
