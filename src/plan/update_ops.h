/** Ops that only the lowering of an update uses. The options of update, sum_rows and merge_rows are in
 *  op/state/update.h, and the kernels of these three in kernel/cpu. */
#ifndef MUSTER_PLAN_UPDATE_OPS_H
#define MUSTER_PLAN_UPDATE_OPS_H

#include "op/state/update.h"

/** sum_leaves: the sum of gradients over some shards. Each source is the sum over a whole subtree of the tree over all
 *  shards (base/shard_tree.h). The sources are added in the order of this tree. */
typedef struct mst_sum_leaves_options {
    int zero_;
    int32_t num_shards;
    const mst_shards *leaf; /**< by source: the shards whose sum it is */
} mst_sum_leaves_options;

/** check_rows: copies the rows of sparse_gradient that are in use, in the form that sum_rows gives. Fails if their
 *  indices do not ascend or are not below NUM_ROWS. */
typedef struct mst_check_rows_options {
    int zero_;
    int64_t num_rows;
} mst_check_rows_options;

/** These functions write the ops in StableHLO. There, rows that are not in use are zeros, and their index is one that
 *  no row of the variable has (for merge_rows: `end_row` or a larger one). */
void mst_sum_rows_lower(mst_lower *l);
void mst_merge_rows_lower(mst_lower *l);
void mst_check_rows_lower(mst_lower *l);
void mst_sum_leaves_lower(mst_lower *l);

/** flat: a vector with the elements of all sources, one source after the other. All have one dtype. It is used for
 *  gradients on devices that compile. */
extern const mst_op mst_op_flat;

/** Whether a node of the op update with OPTIONS reads its source I. */
bool mst_update_reads(const mst_update_options *options, int i);
/** Whether a node of OP with OPTIONS is an update that changes variables. */
bool mst_is_update_step(const mst_op *op, const void *options);

extern const mst_op mst_op_sum_rows, mst_op_merge_rows, mst_op_check_rows, mst_op_sum_leaves, mst_op_update,
    mst_op_stage_update;

#endif
