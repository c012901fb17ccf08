/** Sparse gradients as values of a graph: some rows of the gradient of a variable, and the numbers of these rows. They
 *  are computed in one graph, which has the op leaf_rows, and applied in another, which has the op sparse_gradient. In
 *  between they may be added up row by row (kernel/row_merge.h). */
#ifndef MUSTER_OP_SPARSE_GRADIENT_H
#define MUSTER_OP_SPARSE_GRADIENT_H

#include "muster/hlo.h"
#include "muster/op.h"

typedef struct mst_leaf_rows_options {
    int zero_;
    int64_t num_rows;   /**< of the variable */
    int32_t num_shards; /**< shards whose gradients are sources, in order; each has the same number of sources */
    bool squares;       /**< see mst_sum_rows_options (op/state/update.h) */
    double clip;        /**< largest magnitude of an element; 0: none */
} mst_leaf_rows_options;

typedef struct mst_sparse_gradient_options {
    int zero_;
    bool squares; /**< each row has its sums, then its sums of squares (op/state/update.h) */
    bool clipped; /**< the values were clipped before they were added up */
} mst_sparse_gradient_options;

/** The rows of a gradient, and their numbers. */
typedef struct mst_row_values {
    mst_value rows, numbers;
} mst_row_values;

/** Adds a node of the op leaf_rows with NUM_SRC sources. */
mst_row_values mst_leaf_rows(const mst_value *src, int num_src, const mst_leaf_rows_options *options);
/** Adds a node of the op sparse_gradient. */
mst_value mst_sparse_gradient(mst_row_values from, mst_value like, const mst_sparse_gradient_options *options);

/** Fails unless NUMBERS has at most MOST rows, with ascending numbers from 0 to NUM_ROWS - 1. NUMBERS is i64 [1 + n]:
 *  how many rows there are, then their numbers. */
MST_CHECKED mst_status mst_row_numbers_check(const mst_kernel_args *a, const mst_array *numbers, int64_t most,
                                             int64_t num_rows);
/** The same check in StableHLO; NUMBERS is i64 [1 + n]. Returns the numbers, i64 [n]. Rows that are not used get
 *  numbers of NUM_ROWS and more, each a different one. */
mst_hlo mst_row_numbers_lower(mst_lower *l, mst_hlo numbers, int64_t most, int64_t num_rows);

#endif
