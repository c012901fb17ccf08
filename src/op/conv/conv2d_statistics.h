/** The op conv2d_statistics, which the plan makes out of a convolution and the statistics of the batch norm after
 *  it. */
#ifndef MUSTER_OP_CONV_CONV2D_STATISTICS_H
#define MUSTER_OP_CONV_CONV2D_STATISTICS_H

#include "op/conv/normalized_conv.h"
#include "op/norm/batch_norm.h"

typedef struct mst_conv2d_statistics_options {
    mst_normalized_conv_options conv; /**< first: functions of convolutions take these options too */
    double epsilon;                   /**< of the batch norm after the convolution */
} mst_conv2d_statistics_options;

/** Sources. */
enum {
    MST_CONV2D_STATISTICS_SRC,
    MST_CONV2D_STATISTICS_WEIGHTS,
    MST_CONV2D_STATISTICS_GAMMA,
    MST_CONV2D_STATISTICS_BETA,
    MST_CONV2D_STATISTICS_SRC_TERMS, /**< if src is the source of a batch norm before the convolution */
    MST_CONV2D_STATISTICS_MOST
};

/** Outputs. The last three are the outputs of batch_norm_statistics. */
enum {
    MST_CONV2D_STATISTICS_DST,
    MST_CONV2D_STATISTICS_TERMS,
    MST_CONV2D_STATISTICS_MEAN,
    MST_CONV2D_STATISTICS_VARIANCE,
    MST_CONV2D_STATISTICS_OUTPUTS
};

/** The arrays of the statistics, except their workspace. */
mst_batch_statistics mst_conv2d_statistics_of(const mst_kernel_args *a);

#endif
