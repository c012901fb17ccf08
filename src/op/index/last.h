/** What gather_last and scatter_last share: indices into the last dimension, row by row. */
#ifndef MUSTER_OP_LAST_H
#define MUSTER_OP_LAST_H

#include "muster/op.h"

/** Checks that source 0 is of a listed dtype, that source INDICES is of indices, and that both sources have the same
 *  leading dimensions. Defined in gather_last.c. */
MST_CHECKED mst_status mst_last_infer(mst_infer *c, int rows, int indices);
/** Element I of the indices. */
static inline int64_t mst_last_at(const mst_array *indices, int64_t i) {
    return indices->dtype == MST_I32 ? ((const int32_t *)indices->data)[i] : ((const int64_t *)indices->data)[i];
}

/** An error where one of elements BEGIN to END - 1 of the indices is not within 0 to N - 1. Defined in
 *  gather_last.c. */
MST_CHECKED mst_status mst_last_check(const mst_kernel_args *a, const mst_array *indices, int64_t n, int64_t begin,
                                      int64_t end);

#endif
