/** What gather_last and scatter_last share: indices into the last dimension, row by row. */
#ifndef MUSTER_OP_LAST_H
#define MUSTER_OP_LAST_H

#include "muster/op.h"

/** Checks that source 0 is of a listed dtype, that source INDICES is of indices, and that both sources have the same
 *  leading dimensions. Defined in gather_last.c. */
MST_CHECKED mst_status mst_last_infer(mst_infer *c, int rows, int indices);
/** Element I of the indices, which must be within 0 to N - 1. Defined in gather_last.c. */
MST_CHECKED mst_status mst_last_index(const mst_kernel_args *a, const mst_array *indices, int64_t i, int64_t n,
                                      int64_t *index);

#endif
