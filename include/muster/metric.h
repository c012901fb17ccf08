/** Metrics. Each batch gives a sum and a count, which are added up over shards and steps. The result is sum / count.
 *  For some metrics, such as areas under curves, both are vectors, and the result is another function of them.
 *
 *  The enum mst_metric lists them, MST_METRIC_ACCURACY and so on, in muster/metrics.h. A metric is the mean of the
 *  formula given there. Labels of another dtype than the predictions are cast.
 */
#ifndef MUSTER_METRIC_H
#define MUSTER_METRIC_H

#pragma GCC system_header /* see muster/named.h */

#include "muster/graph.h"
#include "muster/metrics.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Two f64 scalars for a metric that is sum / count; f64 [n] for others. For auc and pr_auc, n is num_thresholds. */
typedef struct mst_metric_values {
    mst_value sum, count;
} mst_metric_values;

typedef struct mst_metric_options {
    int zero_;
    mst_metric metric;
    mst_value labels, predictions;
    int32_t k;        /**< top_k_accuracy, sparse_top_k_categorical_accuracy: default 5 */
    double threshold; /**< binary_accuracy, precision, recall: a probability; default 0.5 */
    bool from_logits; /**< binary_accuracy, precision, recall, perplexity: predictions are logits */
    bool exclusive;   /**< precision, recall: classes exclude each other (softmax); false: they do not (sigmoid) */
    /** precision, recall, f1, auc, pr_auc: of this class against all others, as in scikit-learn (MST_CLASS(1): class
     *  1). 0: of all columns together, as in Keras. A single column is class 1 of two. */
    int64_t positive;
    /** If labels are class numbers: the label of positions that do not count, such as -1 or 255. 0: none; MST_ZERO:
     *  class 0. */
    double ignore_class;
    /** bool [n, ...], one element for each position: false where a position does not count, such as a step of padding.
     *  It may lack dimensions at the end. MST_NONE: all count. */
    mst_value mask;
    int32_t
        num_thresholds; /**< auc, pr_auc: at least 2; default 200, with `positive` 4000. `from_logits` and `exclusive`
                             also apply to auc, pr_auc, f1 and the macro means */
} mst_metric_options;
/** Class I for `positive`. */
#define MST_CLASS(i) ((int64_t)(i) + 1)
/** The metric of one batch: sum and count. If several predictions are the greatest, the first is the argmax. Mistakes
 *  are kept on the graph. */
MST_API mst_metric_values mst_metric_batch_with(mst_metric_options options);
#define mst_metric_batch(...) mst_metric_batch_with(MST_NAMED(mst_metric_options, __VA_ARGS__))
/** The result of METRIC from SUM and COUNT, of shape [] or [n], each added up over all batches. 0 if there was nothing
 *  to count. */
MST_API double mst_metric_value(mst_metric metric, const mst_tensor *sum, const mst_tensor *count);
/** The mean of any value, for example of losses: the sum and the number of its elements. */
MST_API mst_metric_values mst_metric_mean(mst_value src);

/** "accuracy", "sparse_accuracy", ...; "" for MST_METRIC_NONE, NULL past the last. */
MST_API const char *mst_metric_name(mst_metric metric);
/** Finds the metric NAME; MST_INVALID, naming the nearest one, if there is none. */
MST_API MST_CHECKED mst_status mst_metric_from_name(const char *name, mst_metric *out);

/** Sum and count of all batches so far; all zero at first. */
typedef struct mst_metric_state {
    double sum, count;
} mst_metric_state;
MST_API void mst_metric_add(mst_metric_state *state, double sum, double count);
/** sum / count; 0 before anything was added. */
MST_API double mst_metric_result(const mst_metric_state *state);
MST_API void mst_metric_reset(mst_metric_state *state);

#ifdef __cplusplus
}
#endif
#endif
