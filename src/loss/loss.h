/** One kind of loss, in one file each of this folder. To add one: the file, its name in mst_loss, its declaration below,
 *  its row in loss.c. */
#ifndef MUSTER_LOSS_LOSS_H
#define MUSTER_LOSS_LOSS_H

#include "muster/loss.h"
#include "muster/ops.h"

/** What keeps logarithms finite; Keras's backend.epsilon(). */
#define MST_LOSS_EPSILON 1e-7

typedef struct mst_loss_form {
    const char *name;
    bool sparse;            /**< labels are class numbers: one dimension fewer than the predictions */
    const char *activation; /**< the op whose source is taken as logits, or NULL */
    /** Labels and predictions have one dtype and shape, at least two dimensions (sparse: i32, i64 or u8 labels [n] and
     *  predictions [n, classes]). Removes the last axis. */
    mst_value (*value)(mst_value labels, mst_value predictions, bool from_logits);
} mst_loss_form;

extern const mst_loss_form mst_loss_form_sparse_categorical_crossentropy, mst_loss_form_categorical_crossentropy,
    mst_loss_form_binary_crossentropy, mst_loss_form_mean_squared_error, mst_loss_form_mean_absolute_error,
    mst_loss_form_huber, mst_loss_form_hinge, mst_loss_form_poisson, mst_loss_form_kl_divergence;

/** Whether LOSS takes PREDICTIONS as logits where the user has not said that they are probabilities. It does not where
 *  it has no formula for logits, nor where a sigmoid or softmax made them. */
bool mst_loss_sees_logits(mst_loss loss, mst_value predictions);

/** VALUE as a scalar constant of the dtype and graph of LIKE. */
mst_value mst_loss_scalar(mst_value like, double value);
mst_value mst_loss_mean_last(mst_value src);
mst_value mst_loss_sum_last(mst_value src);

#endif
