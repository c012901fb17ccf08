/** One kind of metric. Each file of this folder defines one; from these files the build makes the enum mst_metric
 *  (muster/metrics.h) and the tables below. */
#ifndef MUSTER_METRIC_METRIC_H
#define MUSTER_METRIC_METRIC_H

#include "muster/metric.h"
#include "muster/ops.h"

typedef struct mst_metric_form {
    bool larger_is_better; /**< for early stopping */
    /** A value whose mean is the metric. OPTIONS has labels and predictions, and defaults in place of zeros. */
    mst_value (*value)(const mst_metric_options *options);
    /** Used in place of `value` if the metric does not divide by the number of elements: gives the sum and the count,
     *  two f64 scalars. If there is `result`, they are two f64 [n]. */
    mst_metric_values (*counts)(const mst_metric_options *options);
    /** The metric, from SUM and COUNT [N], which are added up over all batches. NULL: the metric is sum / count. */
    double (*result)(const double *sum, const double *count, int64_t n);
} mst_metric_form;

/** Each is the `value` of two metrics, which are the same metric under Muster's name and under Keras' name. */
mst_value mst_sparse_accuracy_metric(const mst_metric_options *options);
mst_value mst_top_k_accuracy_metric(const mst_metric_options *options);

/** All metrics, by mst_metric. */
extern const mst_metric_form *const mst_metric_table[];
/** Their names, ended by NULL; MST_METRIC_NONE is "none". */
extern const char *const mst_metric_names[];

/** An error that names labels and predictions with their shapes. */
mst_value mst_metric_fail(const mst_metric_options *options, const char *what);
/** For metrics by row: sets LABELS to [rows] i64 and PREDICTIONS to [rows, classes]. Returns false if the shapes do not
 *  fit; LABELS is then an error value. */
bool mst_metric_rows(const mst_metric_options *options, mst_value *labels, mst_value *predictions);
/** Which positions count: f64 [positions], 1 or 0. A position is one row of predictions [..., columns]. It does not
 *  count if .mask is false there, or if its label is .ignore_class. MST_NONE: all count. */
mst_value mst_metric_counted(const mst_metric_options *options);
/** SRC, f64 [..., columns] or [positions], with zeros at positions that do not count. The result has the shape
 *  [positions, columns] or [positions]. */
mst_value mst_metric_without_ignored(const mst_metric_options *options, mst_value src);
/** The sum and the number of the elements of SRC whose positions count. SRC has the shape of the predictions, or one
 *  number for each position. */
mst_metric_values mst_metric_mean_of(const mst_metric_options *options, mst_value src);
/** For metrics by element: sets LABELS to the labels in the dtype and shape of the predictions. Returns false if the
 *  shapes do not fit; LABELS is then an error value. */
bool mst_metric_elements(const mst_metric_options *options, mst_value *labels);

#endif
