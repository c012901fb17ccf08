/** Losses and penalties, by the formulas of Keras and TensorFlow, as values of a graph. */
#ifndef MUSTER_LOSS_H
#define MUSTER_LOSS_H

#include "muster/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/** With t the labels, p the predictions, and mean over the last axis. Labels of another dtype are cast. */
typedef enum mst_loss {
    /** -log p[t], t integers [n] or [n, 1], p [n, classes]; probabilities are limited to [1e-7, 1 - 1e-7] and scaled to
     *  the sum 1 again after it, as TensorFlow does */
    MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY = 0,
    /** -sum(t * log p), both [n, classes]; probabilities are scaled to the sum 1, then limited */
    MST_LOSS_CATEGORICAL_CROSSENTROPY,
    /** mean(-t * log p - (1 - t) * log(1 - p)), probabilities limited as above */
    MST_LOSS_BINARY_CROSSENTROPY,
    MST_LOSS_MEAN_SQUARED_ERROR,  /**< mean((t - p)^2) */
    MST_LOSS_MEAN_ABSOLUTE_ERROR, /**< mean |t - p| */
    MST_LOSS_HUBER,               /**< mean(|d| <= 1 ? d^2 / 2 : |d| - 1/2), d = p - t */
    MST_LOSS_HINGE,               /**< mean max(1 - t * p, 0); labels that all are 0 or 1 become -1 and 1 */
    MST_LOSS_POISSON,             /**< mean(p - t * log(p + 1e-7)) */
    MST_LOSS_KL_DIVERGENCE,       /**< sum(t * log(t / p)), both limited to [1e-7, 1] */
    MST_NUM_LOSSES
} mst_loss;

/** The loss of each example, [n], in the dtype of PREDICTIONS (f32 or f64); what an example has beyond the axes above
 *  is averaged. FROM_LOGITS: the predictions of the cross entropies are logits, not probabilities; predictions that
 *  come straight from softmax or sigmoid are computed from their logits in any case. Labels and predictions have one
 *  shape but for MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY; [n] stands for [n, 1]. Mistakes are kept on the graph. */
MST_API mst_value mst_loss_per_example(mst_loss loss, mst_value labels, mst_value predictions, bool from_logits);
/** "sparse_categorical_crossentropy", ...; NULL past the last. */
MST_API const char *mst_loss_name(mst_loss loss);
/** The loss of a name; MST_INVALID, naming the nearest one, where there is none. */
MST_API MST_CHECKED mst_status mst_loss_from_name(const char *name, mst_loss *out);

typedef enum mst_reduction {
    MST_REDUCTION_MEAN = 0,     /**< sum(weight * loss) / number of examples: sum_over_batch_size */
    MST_REDUCTION_SUM,          /**< sum(weight * loss) */
    MST_REDUCTION_NONE,         /**< weight * loss */
    MST_REDUCTION_WEIGHTED_MEAN /**< sum(weight * loss) / sum(weight) */
} mst_reduction;
/** Puts the losses of examples together: a scalar, but for MST_REDUCTION_NONE. WEIGHTS [n] (MST_NONE: all 1) may be of
 *  any number dtype. A mean of nothing is 0. */
MST_API mst_value mst_loss_reduce(mst_value losses, mst_value weights, mst_reduction reduction);

/** A penalty on weights: l1 * sum |w| + l2 * sum w^2 (Keras), or with `half` l1 * sum |w| + l2 / 2 * sum w^2
 *  (tf.contrib, tf.nn.l2_loss). */
typedef struct mst_regularizer {
    int zero_;
    double l1, l2; /**< default 0; not negative */
    bool half;
} mst_regularizer;
/** As in Keras: l2 * sum w^2. */
#define mst_keras_regularizer(...) MST_NAMED(mst_regularizer, __VA_ARGS__)
/** As in tf.contrib.layers. */
#define mst_l1_regularizer(scale) MST_NAMED(mst_regularizer, .l1 = (scale), .half = true)
#define mst_l2_regularizer(scale) MST_NAMED(mst_regularizer, .l2 = (scale), .half = true)

/** MST_INVALID where a factor is negative or not finite. */
MST_API MST_CHECKED mst_status mst_regularizer_check(const mst_regularizer *regularizer);
/** The penalty on WEIGHT, a scalar of its dtype; MST_NONE where both factors are 0. */
MST_API mst_value mst_regularizer_value(const mst_regularizer *regularizer, mst_value weight);

#ifdef __cplusplus
}
#endif
#endif
