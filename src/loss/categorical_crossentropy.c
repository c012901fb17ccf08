/** categorical crossentropy: -sum(t * log softmax(logits)) over the last axis
 *
 *  If predictions are probabilities p, they are divided by their sum and limited to [epsilon, 1 - epsilon]. The loss is
 *  then -sum(t * log p).
 */
#ifdef MST_LOSS_HEADER
enum { MST_LOSS_CATEGORICAL_CROSSENTROPY = 1 };
#endif
#include "loss/loss.h"

static mst_value categorical_crossentropy_loss(mst_value labels, mst_value predictions, bool from_logits) {
    if (from_logits) return mst_softmax_cross_entropy(predictions, labels);
    mst_value sum = mst_reduce_sum(.src = predictions, .axes = MST_AXES(-1), .keep_dims = true);
    mst_value limited = mst_clip(mst_div(predictions, sum), MST_LOSS_EPSILON, 1 - MST_LOSS_EPSILON);
    return mst_neg(mst_loss_sum_last(mst_mul(labels, mst_log(limited))));
}

const mst_loss_form mst_loss_form_categorical_crossentropy = {.activation = "softmax",
                                                              .value = categorical_crossentropy_loss};
