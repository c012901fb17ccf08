/** max_pool1d: dst[n, x, c] = the largest of src[n, x stride - before + j, c] over a window
 *
 *  src      f32 or f64, [n, steps, channels]
 *  size     length of a window
 *  stride   default size
 *  padding  as in max_pool2d
 *  pads     elements of padding before and after src, instead of the option padding
 *  before   the elements of padding before src
 *  dst      src's dtype, [n, outputs, channels]
 *
 *  The op builds a max_pool2d on pictures of one row.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_max_pool1d_with(mst_pool1d_options options);
#define mst_max_pool1d(...) mst_max_pool1d_with(MST_NAMED_2(mst_pool1d_options, src, size, __VA_ARGS__))
#endif
#include "op/list.h"
#include "op/op.h"
#include "op/pool/pool.h"

mst_value mst_max_pool1d_with(mst_pool1d_options options) {
    return mst_pool_row(&mst_op_max_pool2d, &options);
}
