/** Options of the op fused_conv2d. The plan makes it out of conv2d, ops that scale and shift its channels, an addition
 *  to its output, and an activation. */
#ifndef MUSTER_OP_CONV_FUSED_CONV2D_H
#define MUSTER_OP_CONV_FUSED_CONV2D_H

#include "muster/ops.h"
#include "op/matrix/fused_matmul.h"

typedef struct mst_fused_conv2d_options {
    mst_conv2d_options conv; /**< first: functions of convolutions take these options too */
    int activation;          /**< mst_fused_activation */
    bool residual;           /**< the last source is added before the activation */
} mst_fused_conv2d_options;

/** Applies the steps after the convolution to COUNT elements of DST, in place. SHIFT and SCALE have one element for
 *  each of the CHANNELS, RESIDUAL has COUNT elements. SCALE and RESIDUAL may be NULL. */
void mst_conv_finish_f32(float *dst, int64_t count, const float *shift, const float *scale, const float *residual,
                         int64_t channels, int activation);
void mst_conv_finish_f64(double *dst, int64_t count, const double *shift, const double *scale, const double *residual,
                         int64_t channels, int activation);

/** The same for COUNT elements, from FIRST on, of the f32 output 0 of a fused_conv2d, with its sources and options. */
void mst_fused_conv2d_finish_f32(const mst_kernel_args *a, int64_t first, int64_t count);

#endif
