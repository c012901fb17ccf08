/** Histograms as TensorFlow's summaries have them: buckets whose limits are 10% apart. */
#ifndef MUSTER_SUMMARY_HISTOGRAM_H
#define MUSTER_SUMMARY_HISTOGRAM_H

#include "muster/tensor.h"

/** Bucket i counts limit[i - 1] <= x < limit[i]. The limits are 0, 1e-12 * 1.1^k below 1e20, the largest number, and
 *  the same below 0. Source: tensorflow/core/lib/histogram/histogram.cc. */
enum { MST_HISTOGRAM_BUCKETS = 1551 };

typedef struct mst_histogram {
    double min, max;         /**< of no numbers: the largest and the smallest there are */
    double num;              /**< of numbers counted */
    double sum, sum_squares; /**< of these */
    double bucket[MST_HISTOGRAM_BUCKETS];
} mst_histogram;

/** The limits of the buckets. */
const double *mst_histogram_limits(void);
/** Counts the elements of VALUES, of any dtype. NaN and infinities are left out. */
void mst_histogram_count(const mst_tensor *values, mst_histogram *out);
/** What is written: runs of empty buckets are one. LIMIT and COUNT have room for all buckets; returns their number. */
int mst_histogram_compress(const mst_histogram *histogram, double *limit, double *count);

#endif
