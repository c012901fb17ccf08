/** Sums of sparse gradients, row by row, in the fixed tree over shards (base/shard_tree.h). The op merge_rows
 *  (kernel/cpu/update_merge_rows.c) and tasks that exchange rows (collective/row_exchange.h) use them.
 *
 *  A sparse gradient consists of rows and their indices. It has each row once, in ascending order. So one pass over all
 *  sources finds the rows of the sum. Then the sum of each row is computed. A row that a source does not have counts
 *  as 0.
 */
#ifndef MUSTER_KERNEL_ROW_MERGE_H
#define MUSTER_KERNEL_ROW_MERGE_H

#include "base/shard_tree.h"
#include "muster/op.h"

/** The sparse gradients that are added up. */
typedef struct mst_row_merge {
    mst_dtype dtype; /**< f32 or f64 */
    int64_t columns; /**< number of elements of a row */
    int32_t num_shards;
    int32_t num_leaves;
    const mst_shards *leaf; /**< [num_leaves]: the shards of each leaf, from left to right. Together the leaves make up
                                 one node of the tree over num_shards */
    const mst_array *src;   /**< [2 * num_leaves]: two arrays for each leaf: its rows; and in i64 their number, followed
                                 by their indices. Only `data` of the arrays is read */
} mst_row_merge;

/** Bytes of workspace that a thread needs. Does not read `src`. */
size_t mst_row_merge_workspace(const mst_row_merge *merge);
/** Writes to NUMBER the indices of all rows from FIRST_ROW to END_ROW - 1 that at least one source has. Returns their
 *  number. */
int64_t mst_row_merge_list(const mst_row_merge *merge, int64_t first_row, int64_t end_row, void *workspace,
                           int64_t *number);
/** Writes the sum of row NUMBER[i] to row i of OUT, for i from BEGIN to END - 1. */
void mst_row_merge_sum(const mst_row_merge *merge, const int64_t *number, int64_t begin, int64_t end, void *workspace,
                       void *out);

#endif
