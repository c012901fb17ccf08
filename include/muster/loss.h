/** Losses and penalties, by the formulas of Keras and TensorFlow, as values of a graph.
 *
 *  The enum mst_loss lists the losses, MST_LOSS_MEAN_SQUARED_ERROR and so on, with their formulas, in muster/losses.h.
 *  There, t are the labels and p the predictions; epsilon is 1e-7. Labels of another dtype than the predictions are
 *  cast.
 */
#ifndef MUSTER_LOSS_H
#define MUSTER_LOSS_H

#pragma GCC system_header /* see muster/named.h */

#include "muster/graph.h"
#include "muster/losses.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The loss of each example, [n], in the dtype of PREDICTIONS (f32 or f64). The formula gives a loss for each position,
 *  over the last axis; the mean over the positions is the loss of the example. FROM_LOGITS: the predictions of the
 *  cross entropies are logits, not probabilities. If predictions are the direct result of a softmax or sigmoid, the
 *  loss is computed from its logits in any case. Labels and predictions have the same shape, except for
 *  MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY; [n] stands for [n, 1]. Mistakes are kept on the graph. */
MST_API mst_value mst_loss_per_example(mst_loss loss, mst_value labels, mst_value predictions, bool from_logits);
/** The loss of each position, [n, ...]: the shape of PREDICTIONS without the last axis, such as [n, height, width] for
 *  pictures with a class for each pixel. Otherwise as mst_loss_per_example, which is the mean over the positions.
 *
 *  IGNORE_CLASS, only for MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY: the loss of a position with this label is 0. Any
 *  number is possible, such as -1 or 255. 0: none; MST_ZERO: class 0. COUNTED (may be NULL) becomes 1 where a position
 *  counts, and 0 where it is ignored, in the shape and dtype of the result. As Keras does, divide the sum of the losses
 *  by the sum of COUNTED. */
MST_API mst_value mst_loss_per_position(mst_loss loss, mst_value labels, mst_value predictions, bool from_logits,
                                        double ignore_class, mst_value *counted);
/** "sparse_categorical_crossentropy", ...; NULL past the last. */
MST_API const char *mst_loss_name(mst_loss loss);
/** Whether LOSS measures how much numbers differ, such as the mean squared error. Labels that are names of classes
 *  cannot be used with such a loss. */
MST_API bool mst_loss_measures(mst_loss loss);
/** Finds the loss NAME; MST_INVALID, naming the nearest one, if there is none. */
MST_API MST_CHECKED mst_status mst_loss_from_name(const char *name, mst_loss *out);

typedef enum mst_reduction {
    MST_REDUCTION_MEAN = 0,     /**< sum(weight * loss) / number of examples: sum_over_batch_size */
    MST_REDUCTION_SUM,          /**< sum(weight * loss) */
    MST_REDUCTION_NONE,         /**< weight * loss */
    MST_REDUCTION_WEIGHTED_MEAN /**< sum(weight * loss) / sum(weight) */
} mst_reduction;
/** Combines the losses of examples into a scalar (MST_REDUCTION_NONE: [n]). WEIGHTS [n] (MST_NONE: all 1) may have any
 *  numeric dtype. The mean of no examples is 0. */
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

/** MST_INVALID if a factor is negative or not finite. */
MST_API MST_CHECKED mst_status mst_regularizer_check(const mst_regularizer *regularizer);
/** The penalty on WEIGHT, a scalar of its dtype; MST_NONE if both factors are 0. */
MST_API mst_value mst_regularizer_value(const mst_regularizer *regularizer, mst_value weight);

#ifdef __cplusplus
}
#endif
#endif
