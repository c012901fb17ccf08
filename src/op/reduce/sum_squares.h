/** The sum of the squares of all elements of some arrays: what l2_loss and global_norm share. */
#ifndef MUSTER_OP_SUM_SQUARES_H
#define MUSTER_OP_SUM_SQUARES_H

#include "muster/op.h"

/** *SUM = the sum of the squares of all elements of all sources, f32 or f64, in f64. The order depends on the numbers
 *  of elements alone. */
MST_CHECKED mst_status mst_sum_squares(const mst_kernel_args *a, double *sum);
/** Bytes of workspace that mst_sum_squares needs; the `workspace` of an op. */
size_t mst_sum_squares_workspace(const mst_infer *c, int num_threads);

#endif
