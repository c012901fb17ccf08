/** poisson: mean of p - t * log(p + epsilon) over the last axis */
#ifdef MST_LOSS_HEADER
enum { MST_LOSS_POISSON = 7 };
#endif
#include "loss/loss.h"

static mst_value poisson_loss(mst_value labels, mst_value predictions, bool from_logits) {
    (void)from_logits;
    mst_value logarithm = mst_log(mst_add(predictions, mst_loss_scalar(predictions, MST_LOSS_EPSILON)));
    return mst_loss_mean_last(mst_sub(predictions, mst_mul(labels, logarithm)));
}

const mst_loss_form mst_loss_form_poisson = {.measures = true, .value = poisson_loss};
