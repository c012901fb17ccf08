/** Functions that gather_nd and scatter_nd share. Each row of the indices, [..., k], has k numbers: the place in the
 *  first k dimensions of a shape. */
#ifndef MUSTER_OP_ND_INDEX_H
#define MUSTER_OP_ND_INDEX_H

#include "muster/op.h"

/** Checks INDICES into WHOLE, whose first k dimensions must be known. NAME is the function's name, for errors. Sets *K
 *  to k, and *COUNT to the number of elements of these dimensions. */
MST_CHECKED bool mst_nd_index_check(const char *name, mst_value indices, const mst_shape *whole, int *k,
                                    int64_t *count);
/** Returns, i64, for each row of INDICES the flat index into the first K dimensions of WHOLE. It is -1 if one of the
 *  row's numbers is out of range. */
mst_value mst_nd_index_flat(mst_value indices, const mst_shape *whole, int k);

#endif
