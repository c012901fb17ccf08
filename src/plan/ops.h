/** Options of the ops that only plans have. */
#ifndef MUSTER_PLAN_OPS_H
#define MUSTER_PLAN_OPS_H

#include "op/state/update.h"

/** piece: elements OFFSET and on of a value, as a vector of the output's length; a view. */
typedef struct mst_piece_options {
    int zero_;
    int64_t offset;
} mst_piece_options;

/** update_scalars: what is the same for all elements of one step of a rule. */
typedef struct mst_update_scalars_options {
    int zero_;
    const mst_optimizer *optimizer;
} mst_update_scalars_options;

/** Where the sums of squares of a variable's units are. */
typedef struct mst_clip_norms {
    int32_t source;
    int64_t first, count;
} mst_clip_norms;

/** clip_factors: from the sums of squares of all units, the factor of each variable's gradient. */
typedef struct mst_clip_factors_options {
    int zero_;
    const mst_optimizer *optimizer;
    int32_t num_variables;
    const mst_clip_norms *norms; /**< of each variable */
} mst_clip_factors_options;

/** sum_leaves: gradients of some shards, each source those of a whole subtree, added in the tree over all shards. */
typedef struct mst_sum_leaves_options {
    int zero_;
    int32_t num_shards;
    const mst_leaf *leaf;
} mst_sum_leaves_options;

extern const mst_op mst_op_update_scalars, mst_op_clip_factors, mst_op_sum_rows, mst_op_sum_leaves, mst_op_update;

#endif
