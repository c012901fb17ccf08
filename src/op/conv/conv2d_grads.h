/** Options of the op conv2d_grads, which the plan makes out of the gradients of a batch norm and of the convolution
 *  before it. */
#ifndef MUSTER_OP_CONV_CONV2D_GRADS_H
#define MUSTER_OP_CONV_CONV2D_GRADS_H

#include "muster/op.h"
#include "muster/ops.h"
#include "op/norm/batch_norm.h"

typedef struct mst_conv2d_grads_options {
    mst_conv2d_options conv; /**< first: functions of convolutions take these options too */
    int activation;          /**< mst_batch_activation after the batch norm of the output */
    int src_activation;      /**< mst_batch_activation of the batch norm before the convolution, if any */
    double epsilon;          /**< of the batch norm before the convolution */
    bool weights_only;       /**< the only output is the gradient of the weights */
} mst_conv2d_grads_options;

/** Sources. */
enum {
    MST_CONV2D_GRADS_SRC,
    MST_CONV2D_GRADS_WEIGHTS,
    MST_CONV2D_GRADS_GRADIENT,
    MST_CONV2D_GRADS_OUTPUT,
    MST_CONV2D_GRADS_TERMS,
    MST_CONV2D_GRADS_SRC_TERMS, /**< if src is the source of a batch norm before the convolution */
    MST_CONV2D_GRADS_VARIANCE,  /**< if the node has the outputs from MST_CONV2D_GRADS_SUMS on */
    MST_CONV2D_GRADS_MOST
};

/** Outputs. The last three are the outputs of batch_norm_grad_sums for the batch norm before the convolution. */
enum {
    MST_CONV2D_GRADS_DSRC,
    MST_CONV2D_GRADS_DWEIGHTS,
    MST_CONV2D_GRADS_SUMS,
    MST_CONV2D_GRADS_DGAMMA,
    MST_CONV2D_GRADS_DBETA,
    MST_CONV2D_GRADS_OUTPUTS
};
/** The output that is the gradient of the weights. */
static inline int mst_conv2d_grads_of_weights(const void *options) {
    return ((const mst_conv2d_grads_options *)options)->weights_only ? 0 : MST_CONV2D_GRADS_DWEIGHTS;
}

/** The arrays of the sums, except their workspace. */
mst_batch_sums mst_conv2d_grads_sums(const mst_kernel_args *a);

#endif
