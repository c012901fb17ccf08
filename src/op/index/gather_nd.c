/** gather_nd: dst[i, ...] = params[indices[i, 0], ..., indices[i, k - 1], ...]
 *
 *  params   any dtype; its first k dimensions must be known
 *  indices  i32 or i64, [..., k]
 *  dst      params' dtype; the shape of indices without its last dimension, then that of params without its first k
 *
 *  If an index is out of range, the run fails. The error then shows -1 in place of the index. This function adds other
 *  ops to the graph.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_gather_nd(mst_value params, mst_value indices);
#endif
#include "op/index/nd_index.h"
#include "op/op.h"

mst_value mst_gather_nd(mst_value params, mst_value indices) {
    int k;
    int64_t count;
    if (mst_value_is_none(params)) return params;
    if (mst_value_is_none(indices)) return indices;
    const mst_shape whole = mst_value_spec(params).shape;
    if (!mst_nd_index_check("gather_nd", indices, &whole, &k, &count)) return MST_NONE;
    mst_shape rows = {.ndim = whole.ndim - k + 1, .dim = {count}};
    for (int i = k; i < whole.ndim; i++) rows.dim[i - k + 1] = whole.dim[i];
    return mst_gather(mst_reshape(params, rows), mst_nd_index_flat(indices, &whole, k), 0);
}
