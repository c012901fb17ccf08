/** Options of the op conv2d_grads, which the plan makes out of the gradients of a batch norm and of the convolution
 *  before it. */
#ifndef MUSTER_OP_CONV_CONV2D_GRADS_H
#define MUSTER_OP_CONV_CONV2D_GRADS_H

#include "muster/op.h"
#include "muster/ops.h"

typedef struct mst_conv2d_grads_options {
    mst_conv2d_options conv; /**< first: functions of convolutions take these options too */
    int activation;          /**< mst_batch_activation behind the batch norm of the output */
    int src_activation;      /**< likewise of the batch norm before the convolution, where that has one */
} mst_conv2d_grads_options;

/** Sources. The last one is not there where src is what the convolution reads, and not what a batch norm before it
 *  does. */
enum {
    MST_CONV2D_GRADS_SRC,
    MST_CONV2D_GRADS_WEIGHTS,
    MST_CONV2D_GRADS_GRADIENT,
    MST_CONV2D_GRADS_OUTPUT,
    MST_CONV2D_GRADS_TERMS,
    MST_CONV2D_GRADS_SRC_TERMS,
    MST_CONV2D_GRADS_MOST
};

#endif
