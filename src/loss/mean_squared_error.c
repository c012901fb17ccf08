/** mean squared error: mean of (t - p)^2 over the last axis */
#ifdef MST_LOSS_HEADER
enum { MST_LOSS_MEAN_SQUARED_ERROR = 3 };
#endif
#include "loss/loss.h"

static mst_value mean_squared_error_loss(mst_value labels, mst_value predictions, bool from_logits) {
    (void)from_logits;
    return mst_loss_mean_last(mst_squared_difference(labels, predictions));
}

const mst_loss_form mst_loss_form_mean_squared_error = {.measures = true, .value = mean_squared_error_loss};
