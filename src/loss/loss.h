/** One kind of loss. Each file of this folder defines one; from these files the build makes the enum mst_loss
 *  (muster/losses.h) and the tables below. */
#ifndef MUSTER_LOSS_LOSS_H
#define MUSTER_LOSS_LOSS_H

#include "muster/loss.h"
#include "muster/ops.h"

/** Lower limit of the arguments of logarithms, so that logarithms are finite: Keras' backend.epsilon(). */
#define MST_LOSS_EPSILON 1e-7

typedef struct mst_loss_form {
    bool sparse;            /**< labels are class numbers: one dimension fewer than the predictions */
    bool measures;          /**< it measures a distance between numbers, so labels cannot be names of classes */
    const char *activation; /**< name of an op. If that op made the predictions, its source is used as logits. NULL: no
                             *   op */
    /** The loss, with the shape of PREDICTIONS without the last axis. LABELS and PREDICTIONS have the same dtype and
     *  shape, of at least two dimensions. If `sparse` is set, they are i32, i64 or u8 [n] and floats [n, classes]. */
    mst_value (*value)(mst_value labels, mst_value predictions, bool from_logits);
} mst_loss_form;

/** All losses, by mst_loss. */
extern const mst_loss_form *const mst_loss_table[];
/** Their names, ended by NULL. */
extern const char *const mst_loss_names[];

/** Whether LOSS takes PREDICTIONS as logits if the user has not said that they are probabilities. False if it has no
 *  formula for logits, or if its activation, a sigmoid or softmax, made PREDICTIONS. */
MST_API bool mst_loss_sees_logits(mst_loss loss, mst_value predictions);

/** VALUE as a scalar constant of the dtype and graph of LIKE. */
mst_value mst_loss_scalar(mst_value like, double value);
mst_value mst_loss_mean_last(mst_value src);
mst_value mst_loss_sum_last(mst_value src);
/** The losses of the examples, [n], from LOSSES [n, positions...]: the mean over all axes but the first. */
mst_value mst_loss_mean_of_example(mst_value losses);

#endif
