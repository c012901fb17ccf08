/** Code that normalized_conv2d and normalized_conv2d_weights_grad share: convolutions of the output of a batch norm.
 *  Fast kernels never have that output in memory as a whole: each part of a convolution computes the piece that it
 *  reads.
 *
 *  The terms of a batch norm (op/norm/batch_norm.h) are an array [3, channels]: mean, scale and beta. The terms of its
 *  gradient have two more rows. Parameters TERMS and OF are numbers of sources. */
#ifndef MUSTER_OP_CONV_NORMALIZED_CONV_H
#define MUSTER_OP_CONV_NORMALIZED_CONV_H

#include "muster/op.h"
#include "muster/ops.h"

typedef struct mst_normalized_conv_options {
    mst_conv2d_options conv; /**< first: functions of convolutions take these options too */
    int activation;          /**< mst_batch_activation */
} mst_normalized_conv_options;
extern const mst_field mst_normalized_conv_fields[];

/** Checks that source TERMS is [COUNT, channels], with the channels of source OF. COUNT is MST_BATCH_TERMS or
 *  MST_BATCH_GRAD_TERMS. */
MST_CHECKED mst_status mst_infer_batch_terms(mst_infer *c, int terms, int64_t count, int of);
/** The number of the source with the terms of the batch norm before the convolution; 0: there is none. OP is a
 *  convolution, or the op of its gradients. */
int mst_conv_src_terms(const mst_op *op, int num_src);
/** Computes the output of the batch norm of source 0 into DST. Source TERMS has the terms. */
MST_CHECKED mst_status mst_normalize_source(const mst_kernel_args *a, int terms, int activation, void *dst);
size_t mst_normalized_conv_workspace(const mst_infer *c, int num_threads);
/** Computes the output of the batch norm of source 0, and calls the reference kernel of OP with this output in place of
 *  source 0. */
MST_CHECKED mst_status mst_normalized_conv_run(const mst_kernel_args *a, int terms, const mst_op *op);

#endif
