/** mean intersection over union, as Keras' MeanIoU, OneHotMeanIoU and BinaryIoU: true positive / (positive + predicted
 *  positive - true positive) of each class that occurs in labels or predictions, and the mean over these classes
 *
 *  The largest column is the prediction, and of one-hot labels the class. A single column is class 1 of two */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_MEAN_IO_U = 20 };
#endif
#include "metric/macro.h"

static mst_metric_values mean_io_u_counts(const mst_metric_options *options) {
    const mst_shape p = mst_value_spec(options->predictions).shape;
    mst_metric_options o = *options;
    o.exclusive = p.ndim > 1 && p.dim[p.ndim - 1] != 1; /* a position has one class */
    return mst_metric_macro_counts(&o);
}

static double mean_io_u_of(mst_class_counts r) {
    return r.right / (r.labels + r.predicted - r.right);
}

static double mean_io_u_result(const double *right, const double *all, int64_t n) {
    return mst_metric_macro_mean(right, all, n, mean_io_u_of);
}

const mst_metric_form mst_metric_form_mean_io_u = {
    .larger_is_better = true, .counts = mean_io_u_counts, .result = mean_io_u_result};
