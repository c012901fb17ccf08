/** Functions that space_to_depth and depth_to_space share. Each op is the inverse of the other, and so also its
 *  gradient. */
#ifndef MUSTER_OP_DEPTH_BLOCKS_H
#define MUSTER_OP_DEPTH_BLOCKS_H

#include "muster/op.h"
#include "muster/ops.h"

extern const mst_field mst_depth_blocks_fields[];

/** Checks the options and source 0, and infers output 0. TO_DEPTH: the op is space_to_depth. */
MST_CHECKED mst_status mst_depth_blocks_infer(mst_infer *c, bool to_depth);
/** The kernels. */
mst_status mst_depth_blocks_copy(const mst_kernel_args *a, bool to_depth);
/** Writes the ops in StableHLO. */
void mst_depth_blocks_lower(mst_lower *l, bool to_depth);

#endif
