/** What gather_nd and scatter_nd share: indices of several numbers, [..., k], into the first k dimensions of a shape.
 */
#ifndef MUSTER_OP_ND_INDEX_H
#define MUSTER_OP_ND_INDEX_H

#include "muster/op.h"

/** Checks INDICES into WHOLE, whose first k dimensions must be known. NAME is the function's name, for errors. Sets *K
 *  to k, and *COUNT to the number of elements of these dimensions. */
MST_CHECKED bool mst_nd_index_check(const char *name, mst_value indices, const mst_shape *whole, int *k,
                                    int64_t *count);
/** For each row of INDICES its number among the elements of the first K dimensions of WHOLE, i64. It is -1 if one of
 *  the row's numbers is out of range. */
mst_value mst_nd_index_flat(mst_value indices, const mst_shape *whole, int k);

#endif
