/** What normalized_conv2d and normalized_conv2d_weights_grad share: convolutions of the output of a batch norm. That
 *  output is never in memory as a whole: each part of a convolution makes the piece that it reads. */
#ifndef MUSTER_OP_CONV_NORMALIZED_CONV_H
#define MUSTER_OP_CONV_NORMALIZED_CONV_H

#include "muster/op.h"
#include "muster/ops.h"

typedef struct mst_normalized_conv_options {
    mst_conv2d_options conv; /**< first: functions of convolutions take these options too */
    int activation;          /**< mst_batch_activation */
} mst_normalized_conv_options;
extern const mst_field mst_normalized_conv_fields[];

/** Source TERMS is [COUNT, channels of source OF]. */
MST_CHECKED mst_status mst_infer_batch_terms(mst_infer *c, int terms, int64_t count, int of);
/** The source of a node of OP, a convolution or gradients of one, that has the terms of the batch norm before the
 *  convolution; 0: there is none. */
int mst_conv_src_terms(const mst_op *op, int num_src);
/** Makes, in DST, the output of the batch norm of source 0, whose terms source TERMS has. */
MST_CHECKED mst_status mst_normalize_source(const mst_kernel_args *a, int terms, int activation, void *dst);
size_t mst_normalized_conv_workspace(const mst_infer *c, int num_threads);
/** Makes the output of the batch norm, and calls the reference of OP with that in place of source 0. */
MST_CHECKED mst_status mst_normalized_conv_run(const mst_kernel_args *a, int terms, const mst_op *op);

#endif
