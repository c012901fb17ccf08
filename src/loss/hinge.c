/** hinge: mean of max(1 - t * p, 0) over the last axis; t are the labels, p the predictions
 *
 *  Labels are -1 and 1. If all labels of the batch are 0 or 1, each label t becomes 2 * t - 1. A batch in which all
 *  labels are 1 does not change by this.
 */
#ifdef MST_LOSS_HEADER
enum { MST_LOSS_HINGE = 6 };
#endif
#include "loss/loss.h"

static mst_value hinge_loss(mst_value labels, mst_value predictions, bool from_logits) {
    (void)from_logits;
    mst_value zero = mst_loss_scalar(labels, 0), one = mst_loss_scalar(labels, 1);
    mst_value binary = mst_reduce_all(.src = mst_logical_or(mst_equal(labels, zero), mst_equal(labels, one)));
    mst_value signs = mst_select(binary, mst_sub(mst_scale(labels, 2), one), labels);
    return mst_loss_mean_last(mst_maximum(mst_sub(one, mst_mul(signs, predictions)), zero));
}

const mst_loss_form mst_loss_form_hinge = {.value = hinge_loss};
