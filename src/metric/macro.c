#include "metric/macro.h"

#include <math.h>

#include "metric/positives.h"

static mst_value one_hot(mst_value numbers, int64_t classes) {
    return mst_one_hot(numbers, .depth = classes, .dtype = MST_F64);
}

/* For a single column, the probability or the logit of class 1 of two: makes LABELS and PREDICTIONS [rows, 2]. */
static bool two_classes(const mst_metric_options *o, mst_value *labels, mst_value *predictions) {
    if (!mst_metric_positives(o, labels, predictions)) return false;
    *labels = one_hot(mst_cast(mst_reshape(*labels, MST_SHAPE(-1)), MST_I64), 2);
    *predictions = one_hot(mst_cast(mst_reshape(*predictions, MST_SHAPE(-1)), MST_I64), 2);
    *labels = mst_metric_without_ignored(o, *labels);
    *predictions = mst_metric_without_ignored(o, *predictions);
    return true;
}

/* Makes LABELS and PREDICTIONS [rows, classes]: 1 if the row is of the class, else 0. */
static bool class_rows(const mst_metric_options *o, mst_value *labels, mst_value *predictions) {
    const mst_shape t = mst_value_spec(o->labels).shape, p = mst_value_spec(o->predictions).shape;
    const int64_t classes = p.ndim < 2 ? 1 : p.dim[p.ndim - 1];
    if (classes == 1) return two_classes(o, labels, predictions);
    const bool same = t.ndim == p.ndim && t.dim[t.ndim - 1] == classes;
    if (same && !o->exclusive) {
        if (!mst_metric_positives(o, labels, predictions)) return false;
        *labels = mst_reshape(*labels, MST_SHAPE(-1, classes));
        *predictions = mst_reshape(*predictions, MST_SHAPE(-1, classes));
        return true;
    }
    if (same ? !mst_metric_elements(o, labels) : !mst_metric_rows(o, labels, predictions)) return false;
    if (same) {
        *labels = mst_argmax(mst_reshape(*labels, MST_SHAPE(-1, classes)), .axis = -1);
        *predictions = mst_reshape(o->predictions, MST_SHAPE(-1, classes));
    }
    *labels = mst_metric_without_ignored(o, one_hot(*labels, classes));
    *predictions = mst_metric_without_ignored(o, one_hot(mst_argmax(*predictions, .axis = -1), classes));
    return true;
}

static mst_value column_sums(mst_value rows) {
    return mst_reduce_sum(rows, .axes = MST_AXES(0));
}

mst_metric_values mst_metric_macro_counts(const mst_metric_options *options) {
    mst_metric_options o = *options;
    mst_value labels, predictions;
    o.positive = 0; /* all classes */
    if (!class_rows(&o, &labels, &predictions)) return (mst_metric_values){labels, labels};
    const mst_value right = column_sums(mst_mul(labels, predictions));
    return (mst_metric_values){
        mst_concat((mst_value[]){right, right}, 2, 0),
        mst_concat((mst_value[]){column_sums(predictions), column_sums(labels)}, 2, 0),
    };
}

double mst_metric_macro_mean(const double *right, const double *all, int64_t n,
                             double (*function)(mst_class_counts counts)) {
    const int64_t classes = n / 2;
    double sum = 0, there = 0;
    for (int64_t c = 0; c < classes; c++) {
        const mst_class_counts counts = {.right = right[c], .predicted = all[c], .labels = all[classes + c]};
        if (counts.labels + counts.predicted <= 0) continue;
        sum += function(counts);
        there++;
    }
    return there > 0 ? sum / there : 0;
}
