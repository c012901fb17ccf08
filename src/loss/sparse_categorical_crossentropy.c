/** sparse categorical crossentropy: -log softmax(logits)[label], labels integers [n] or [n, 1], logits [n, classes]
 *
 *  If predictions are probabilities p, they are limited to [epsilon, 1 - epsilon], and their logarithms are the logits.
 *  So the loss is -log(p[label] / sum p) of the limited p.
 */
#ifdef MST_LOSS_HEADER
enum { MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY = 0 };
#endif
#include "loss/loss.h"

static mst_value sparse_categorical_crossentropy_loss(mst_value labels, mst_value predictions, bool from_logits) {
    mst_value logits = predictions;
    if (!from_logits) logits = mst_log(mst_clip(predictions, MST_LOSS_EPSILON, 1 - MST_LOSS_EPSILON));
    return mst_sparse_softmax_cross_entropy(logits, labels);
}

const mst_loss_form mst_loss_form_sparse_categorical_crossentropy = {
    .sparse = true, .activation = "softmax", .value = sparse_categorical_crossentropy_loss};
