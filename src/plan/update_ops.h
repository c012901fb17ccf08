/** Ops that only the lowering of an update uses. The options of update, sum_rows and merge_rows, whose
 *  kernels are in kernel/cpu, are in op/state/update.h. */
#ifndef MUSTER_PLAN_UPDATE_OPS_H
#define MUSTER_PLAN_UPDATE_OPS_H

#include "op/state/update.h"

/** sum_leaves: the sum of gradients of some shards. Each source is the sum over a whole subtree; they are added in the
 *  order of the tree over all shards. */
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

/** How these are written in StableHLO. Rows that are not used are zeros there, and have a number that no row of the
 *  variable has (merge_rows: that is not below `end_row`). */
void mst_sum_rows_lower(mst_lower *l);
void mst_merge_rows_lower(mst_lower *l);
void mst_check_rows_lower(mst_lower *l);
void mst_sum_leaves_lower(mst_lower *l);

/** flat: the elements of all sources, of one dtype, one after the other as a vector. On devices that compile. */
extern const mst_op mst_op_flat;

/** Whether the node update of OPTIONS reads its source I. */
bool mst_update_reads(const mst_update_options *options, int i);
/** Whether a node of OP with OPTIONS is an update that changes variables. */
bool mst_is_update_step(const mst_op *op, const void *options);

extern const mst_op mst_op_sum_rows, mst_op_merge_rows, mst_op_check_rows, mst_op_sum_leaves, mst_op_update,
    mst_op_stage_update;

#endif
