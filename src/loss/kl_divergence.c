/** Kullback-Leibler divergence: sum of t * log(t / p) over the last axis, both limited to [epsilon, 1] */
#ifdef MST_LOSS_HEADER
enum { MST_LOSS_KL_DIVERGENCE = 8 };
#endif
#include "loss/loss.h"

static mst_value kl_divergence_loss(mst_value labels, mst_value predictions, bool from_logits) {
    (void)from_logits;
    mst_value t = mst_clip(labels, MST_LOSS_EPSILON, 1), p = mst_clip(predictions, MST_LOSS_EPSILON, 1);
    return mst_loss_sum_last(mst_mul(t, mst_log(mst_div(t, p))));
}

const mst_loss_form mst_loss_form_kl_divergence = {.value = kl_divergence_loss};
