/** Code that layer_norm, group_norm and their gradients share: they normalize elements within groups.
 *
 *  A source is seen as [outer, rows, groups, inner]. Each of the outer * groups groups has a mean and a variance, over
 *  its rows * inner elements. gamma and beta have groups * inner elements. For layer_norm, rows and groups are 1.
 */
#ifndef MUSTER_OP_NORM_GROUPS_H
#define MUSTER_OP_NORM_GROUPS_H

#include "muster/op.h"
#include "muster/ops.h"

typedef struct mst_norm_groups {
    int64_t outer, rows, groups, inner;
} mst_norm_groups;

/** The kernel of an op with sources src, gamma, beta and outputs dst, mean, variance. */
MST_CHECKED mst_status mst_norm_groups_run(const mst_kernel_args *a, const mst_norm_groups *view, double epsilon);
/** Bytes of workspace. */
size_t mst_norm_groups_workspace(const mst_norm_groups *view, int num_threads);

/** The kernel of the gradient op, with sources src, gamma, mean, variance, gradient. Its outputs are the gradients of
 *  src, gamma and beta. */
MST_CHECKED mst_status mst_norm_groups_grad_run(const mst_kernel_args *a, const mst_norm_groups *view, double epsilon);
/** Bytes of workspace. */
size_t mst_norm_groups_grad_workspace(const mst_norm_groups *view, mst_dtype dtype, int num_threads);

/** These write the op and its gradient in StableHLO. */
void mst_norm_groups_lower(mst_lower *l, const mst_norm_groups *view, double epsilon);
void mst_norm_groups_grad_lower(mst_lower *l, const mst_norm_groups *view, double epsilon);

/** Adds nodes for the gradient of source 0 of the op: SUM (or MST_NONE), plus the gradient through the outputs mean and
 *  variance. GROUPS is the op's option; 0: layer_norm. */
mst_value mst_norm_groups_by_statistics(const mst_grad *c, int32_t groups, mst_value sum);
/** Adds nodes for the gradient of the gradient op with respect to its source I. */
mst_value mst_norm_groups_second(const mst_grad *c, int32_t groups, double epsilon, int i);

#endif
