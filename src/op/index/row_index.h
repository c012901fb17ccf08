/** Indices into rows; a row is the last dimension. The ops gather_last and scatter_last, and functions that they share.
 *  Both ops are internal to the library: the gradients of sort and top_k are built from them. */
#ifndef MUSTER_OP_ROW_INDEX_H
#define MUSTER_OP_ROW_INDEX_H

#include "muster/op.h"

/** Checks that the dtype of source 0 is listed, and that source INDICES is i32 or i64. Also checks that sources ROWS
 *  and INDICES have the same leading dimensions. */
MST_CHECKED mst_status mst_row_index_infer(mst_infer *c, int rows, int indices);
/** Element I of the indices. */
static inline int64_t mst_row_index_at(const mst_array *indices, int64_t i) {
    return indices->dtype == MST_I32 ? ((const int32_t *)indices->data)[i] : ((const int64_t *)indices->data)[i];
}

/** Fails if one of elements BEGIN to END - 1 of the indices is not within 0 to N - 1. */
MST_CHECKED mst_status mst_row_index_check(const mst_kernel_args *a, const mst_array *indices, int64_t n, int64_t begin,
                                           int64_t end);

/** The op gather_last. */
mst_value mst_gather_last(mst_value src, mst_value indices);
/** The op scatter_last. */
mst_value mst_scatter_last(mst_value src, mst_value indices, mst_value like);

#endif
