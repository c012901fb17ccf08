/** One kind of metric, in one file each of this folder. To add one: the file, its name in mst_metric, its
 *  declaration below, its row in metric.c. */
#ifndef MUSTER_METRIC_METRIC_H
#define MUSTER_METRIC_METRIC_H

#include "muster/metric.h"
#include "muster/ops.h"

typedef struct mst_metric_form {
    const char *name;
    /** A value whose mean is the metric; labels, predictions, and zero-valued options filled in. */
    mst_value (*value)(const mst_metric_options *options);
} mst_metric_form;

extern const mst_metric_form mst_metric_form_accuracy, mst_metric_form_sparse_accuracy,
    mst_metric_form_categorical_accuracy, mst_metric_form_binary_accuracy, mst_metric_form_top_k_accuracy,
    mst_metric_form_mean_squared_error, mst_metric_form_mean_absolute_error;

/** An error that names labels and predictions with their shapes. */
mst_value mst_metric_fail(const mst_metric_options *options, const char *what);
/** Labels as [rows] i64, predictions as [rows, classes], for metrics by row; where the shapes do not fit, false, and
 *  LABELS is an error value. */
bool mst_metric_rows(const mst_metric_options *options, mst_value *labels, mst_value *predictions);
/** Labels in the dtype and shape of the predictions, for metrics by element; false and an error value as above. */
bool mst_metric_elements(const mst_metric_options *options, mst_value *labels);

#endif
