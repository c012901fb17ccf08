/** r2: the fraction of the variance of the labels that is predicted, as scikit-learn's r2_score
 *
 *  It is the mean over the columns of 1 - sum (label - prediction)^2 / sum (label - mean)^2. A column whose labels are
 *  all equal has 1 if all of them are predicted exactly, else 0 */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_R2 = 19 };
#endif
#include "metric/metric.h"

static mst_value sum_of_rows(const mst_metric_options *o, mst_value rows) {
    return mst_reduce_sum(mst_metric_without_ignored(o, rows), .axes = MST_AXES(0));
}

/* sum: for each column the sum of the squared errors; then the sums of the labels; then those of their squares.
 * count: the number of rows. */
static mst_metric_values r2_counts(const mst_metric_options *o) {
    const mst_shape p = mst_value_spec(o->predictions).shape;
    const int64_t columns = p.ndim < 2 ? 1 : p.dim[p.ndim - 1];
    mst_value labels;
    if (!mst_metric_elements(o, &labels)) return (mst_metric_values){labels, labels};
    if (columns < 0) {
        labels = mst_metric_fail(o, "the number of columns must be known");
        return (mst_metric_values){labels, labels};
    }
    labels = mst_cast(mst_reshape(labels, MST_SHAPE(-1, columns)), MST_F64);
    const mst_value predictions = mst_cast(mst_reshape(o->predictions, MST_SHAPE(-1, columns)), MST_F64);
    const mst_value counted = mst_metric_counted(o);
    const mst_value parts[] = {sum_of_rows(o, mst_squared_difference(labels, predictions)), sum_of_rows(o, labels),
                               sum_of_rows(o, mst_square(labels))};
    const mst_value rows = mst_value_is_none(counted) ? mst_dim_size(labels, 0, MST_F64) : mst_reduce_sum(counted);
    return (mst_metric_values){
        mst_concat(parts, 3, 0),
        mst_mul(rows, mst_fill(mst_value_graph(labels), MST_F64, MST_SHAPE(3 * columns), 1)),
    };
}

static double r2_result(const double *sum, const double *count, int64_t n) {
    const int64_t columns = n / 3;
    double all = 0;
    if (!columns || *count <= 0) return 0;
    for (int64_t c = 0; c < columns; c++) {
        const double errors = sum[c], labels = sum[columns + c], squares = sum[2 * columns + c];
        const double spread = squares - labels * labels / *count;
        const bool differ = spread > 1e-13 * squares; /* a smaller spread is rounding of the sums */
        all += differ ? 1 - errors / spread : errors > 0 ? 0 : 1;
    }
    return all / (double)columns;
}

const mst_metric_form mst_metric_form_r2 = {.larger_is_better = true, .counts = r2_counts, .result = r2_result};
