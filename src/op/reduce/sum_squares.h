/** The sum of the squares of all elements of some arrays, for l2_loss and global_norm. */
#ifndef MUSTER_OP_SUM_SQUARES_H
#define MUSTER_OP_SUM_SQUARES_H

#include "muster/op.h"

/** Sets *SUM to the sum of the squares of all elements of all sources, which are f32 or f64. It is added up in f64, in
 *  an order that depends only on the numbers of elements. */
MST_CHECKED mst_status mst_sum_squares(const mst_kernel_args *a, double *sum);
/** Bytes of workspace that mst_sum_squares needs; the `workspace` of an op. */
size_t mst_sum_squares_workspace(const mst_infer *c, int num_threads);

#endif
