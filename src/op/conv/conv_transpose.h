/** Functions that conv2d_transpose and conv3d_transpose share. */
#ifndef MUSTER_OP_CONV_TRANSPOSE_H
#define MUSTER_OP_CONV_TRANSPOSE_H

#include "op/conv/conv.h"

/** Infers output 0 from sources 0 and 1, which must have NDIM dimensions. */
MST_CHECKED mst_status mst_conv_transpose_infer(mst_infer *c, int ndim);
mst_value mst_conv_transpose_grad(mst_grad *c, int i);
mst_status mst_conv_transpose_reference(const mst_kernel_args *a);
void mst_conv_transpose_lower(mst_lower *l);

#endif
