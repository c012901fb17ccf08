/** huber: mean of (|d| <= 1 ? d^2 / 2 : |d| - 1/2) over the last axis, d = p - t */
#ifdef MST_LOSS_HEADER
enum { MST_LOSS_HUBER = 5 };
#endif
#include "loss/loss.h"

static mst_value huber_loss(mst_value labels, mst_value predictions, bool from_logits) {
    (void)from_logits;
    mst_value error = mst_sub(predictions, labels), size = mst_abs(error);
    mst_value near = mst_scale(mst_square(error), 0.5), far = mst_sub(size, mst_loss_scalar(size, 0.5));
    return mst_loss_mean_last(mst_select(mst_less_equal(size, mst_loss_scalar(size, 1)), near, far));
}

const mst_loss_form mst_loss_form_huber = {.measures = true, .value = huber_loss};
