/** One kind of loss, in one file each of this folder. The build makes of these files the enum mst_loss
 *  (muster/losses.h) and the tables below. */
#ifndef MUSTER_LOSS_LOSS_H
#define MUSTER_LOSS_LOSS_H

#include "muster/loss.h"
#include "muster/ops.h"

/** What keeps logarithms finite; Keras's backend.epsilon(). */
#define MST_LOSS_EPSILON 1e-7

typedef struct mst_loss_form {
    bool sparse;   /**< labels are class numbers: one dimension fewer than the predictions */
    bool measures; /**< it measures by how much labels and predictions differ: labels cannot be named classes */
    const char *activation; /**< the op whose source is taken as logits, or NULL */
    /** Labels and predictions have one dtype and shape, at least two dimensions (sparse: i32, i64 or u8 labels [n] and
     *  predictions [n, classes]). Removes the last axis. */
    mst_value (*value)(mst_value labels, mst_value predictions, bool from_logits);
} mst_loss_form;

/** All losses, by mst_loss. */
extern const mst_loss_form *const mst_loss_table[];
/** Their names, ended by NULL. */
extern const char *const mst_loss_names[];

/** Whether LOSS takes PREDICTIONS as logits where the user has not said that they are probabilities. It does not where
 *  it has no formula for logits, nor where a sigmoid or softmax made them. */
MST_API bool mst_loss_sees_logits(mst_loss loss, mst_value predictions);

/** VALUE as a scalar constant of the dtype and graph of LIKE. */
mst_value mst_loss_scalar(mst_value like, double value);
mst_value mst_loss_mean_last(mst_value src);
mst_value mst_loss_sum_last(mst_value src);

#endif
