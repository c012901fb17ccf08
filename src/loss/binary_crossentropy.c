/** binary crossentropy: mean of -t * log p - (1 - t) * log(1 - p) over the last axis
 *
 *  t are the labels, p the predictions, limited to [epsilon, 1 - epsilon]. From logits x the mean is of
 *  max(x, 0) - x * t + log(1 + exp(-|x|)).
 */
#ifdef MST_LOSS_HEADER
enum { MST_LOSS_BINARY_CROSSENTROPY = 2 };
#endif
#include "loss/loss.h"

static mst_value binary_crossentropy_loss(mst_value labels, mst_value predictions, bool from_logits) {
    if (from_logits) return mst_loss_mean_last(mst_sigmoid_cross_entropy(predictions, labels));
    mst_value p = mst_clip(predictions, MST_LOSS_EPSILON, 1 - MST_LOSS_EPSILON);
    mst_value one = mst_loss_scalar(p, 1);
    mst_value yes = mst_mul(labels, mst_log(p));
    mst_value no = mst_mul(mst_sub(one, labels), mst_log(mst_sub(one, p)));
    return mst_loss_mean_last(mst_neg(mst_add(yes, no)));
}

const mst_loss_form mst_loss_form_binary_crossentropy = {.activation = "sigmoid", .value = binary_crossentropy_loss};
