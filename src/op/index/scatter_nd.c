/** scatter_nd: zeros of a given shape, with updates added: dst[indices[i, 0], ..., indices[i, k - 1], ...] +=
 *  updates[i, ...] for each i
 *
 *  indices  i32 or i64, [..., k]
 *  updates  f32, f64, i32 or i64; the shape of indices without its last dimension, then that of dst without its first k
 *  shape    shape of dst, all dimensions known
 *  dst      updates' dtype
 *
 *  Updates with the same indices are added in their order. If an index is out of range, the run fails. The error then
 *  shows -1 in place of the index. This function adds other ops to the graph.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_scatter_nd(mst_value indices, mst_value updates, mst_shape shape);
#endif
#include "op/index/gather.h"
#include "op/index/nd_index.h"
#include "op/op.h"

mst_value mst_scatter_nd(mst_value indices, mst_value updates, mst_shape shape) {
    int k;
    int64_t count;
    if (mst_value_is_none(indices)) return indices;
    if (mst_value_is_none(updates)) return updates;
    mst_graph *graph = mst_value_graph(indices);
    if (!mst_nd_index_check("scatter_nd", indices, &shape, &k, &count)) return MST_NONE;
    const mst_shape index = mst_value_spec(indices).shape, given = mst_value_spec(updates).shape;
    const int num_rows = index.ndim - 1;
    bool fits = given.ndim == num_rows + shape.ndim - k;
    for (int i = 0; i < given.ndim && fits; i++) {
        const int64_t wanted = i < num_rows ? index.dim[i] : shape.dim[i - num_rows + k];
        fits = given.dim[i] < 0 || wanted < 0 || given.dim[i] == wanted;
    }
    if (!fits)
        return mst_value_fail(graph, MST_INVALID,
                              "scatter_nd: updates '%s' must have the shape of the indices '%s' without the last "
                              "dimension, then that of the result without its first %d",
                              mst_value_name(updates), mst_value_name(indices), k);
    mst_shape rows = {.ndim = shape.ndim - k + 1, .dim = {count}};
    for (int i = k; i < shape.ndim; i++) rows.dim[i - k + 1] = shape.dim[i];
    const mst_value like = mst_fill(graph, mst_value_spec(updates).dtype, rows, 0);
    return mst_reshape(mst_gather_grad(updates, mst_nd_index_flat(indices, &shape, k), like, 0), shape);
}
