/** One kind of metric, in one file each of this folder. The build makes of these files the enum mst_metric
 *  (muster/metrics.h) and the tables below. */
#ifndef MUSTER_METRIC_METRIC_H
#define MUSTER_METRIC_METRIC_H

#include "muster/metric.h"
#include "muster/ops.h"

typedef struct mst_metric_form {
    bool larger_is_better; /**< for early stopping */
    /** A value whose mean is the metric; labels, predictions, and zero-valued options filled in. */
    mst_value (*value)(const mst_metric_options *options);
    /** In place of `value`: the sum and the count, two f64 scalars, of a metric whose count is not the number of
     *  elements; or, with `result`, two f64 [n]. */
    mst_metric_values (*counts)(const mst_metric_options *options);
    /** The metric of such [N] that have been added up; NULL: it is sum / count. */
    double (*result)(const double *sum, const double *count, int64_t n);
} mst_metric_form;

/** The values of metrics that have another name too, that of Keras. */
mst_value mst_sparse_accuracy_metric(const mst_metric_options *options);
mst_value mst_top_k_accuracy_metric(const mst_metric_options *options);

/** All metrics, by mst_metric. */
extern const mst_metric_form *const mst_metric_table[];
/** Their names, ended by NULL; that of MST_METRIC_NONE is "none". */
extern const char *const mst_metric_names[];

/** An error that names labels and predictions with their shapes. */
mst_value mst_metric_fail(const mst_metric_options *options, const char *what);
/** Labels as [rows] i64, predictions as [rows, classes], for metrics by row; where the shapes do not fit, false, and
 *  LABELS is an error value. */
bool mst_metric_rows(const mst_metric_options *options, mst_value *labels, mst_value *predictions);
/** Labels in the dtype and shape of the predictions, for metrics by element; false and an error value as above. */
bool mst_metric_elements(const mst_metric_options *options, mst_value *labels);

#endif
