/** mean absolute error: mean of |t - p| over the last axis */
#ifdef MST_LOSS_HEADER
enum { MST_LOSS_MEAN_ABSOLUTE_ERROR = 4 };
#endif
#include "loss/loss.h"

static mst_value mean_absolute_error_loss(mst_value labels, mst_value predictions, bool from_logits) {
    (void)from_logits;
    return mst_loss_mean_last(mst_abs(mst_sub(labels, predictions)));
}

const mst_loss_form mst_loss_form_mean_absolute_error = {.measures = true, .value = mean_absolute_error_loss};
