/** argsort: the indices that sort src along axis. For the last axis: sort(src)[..., j] = src[..., dst[..., j]]
 *
 *  src         f32, f64, i32, i64 or u8, at least one dimension
 *  axis        MST_AXES(0), ...; negative ones count from the end; none: the last
 *  descending  the largest first
 *  dst         i32, src's shape
 *
 *  Of equal elements the one with the lower index comes first, in both directions; NaN comes after all numbers. It has
 *  no gradient.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_argsort_with(mst_sort_options options);
#define mst_argsort(...) mst_argsort_with(MST_NAMED_1(mst_sort_options, src, __VA_ARGS__))
#endif
#include "op/index/sort.h"
#include "op/op.h"

mst_value mst_argsort_with(mst_sort_options options) {
    return mst_sort_output(&options, MST_SORT_INDICES);
}
