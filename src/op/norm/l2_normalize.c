/** l2_normalize: dst = src / sqrt(max(sum of src^2 over axes, epsilon))
 *
 *  src      f32 or f64
 *  axes     negative ones count from the end; none: all
 *  epsilon  default 1e-12, as in tf.math.l2_normalize
 *  dst      like src; 0 if all elements along axes are 0
 *
 *  The function builds it from other ops.
 */
#ifdef MST_OP_HEADER
typedef struct mst_l2_normalize_options {
    int zero_;
    mst_value src;
    mst_axes axes; /**< none: all */
    double epsilon;
} mst_l2_normalize_options;
MST_API mst_value mst_l2_normalize_with(mst_l2_normalize_options options);
#define mst_l2_normalize(...) mst_l2_normalize_with(MST_NAMED_1(mst_l2_normalize_options, src, __VA_ARGS__))
#endif
#include "op/op.h"

mst_value mst_l2_normalize_with(mst_l2_normalize_options o) {
    mst_graph *graph = mst_value_graph(o.src);
    if (mst_value_is_none(o.src)) return o.src;
    const mst_dtype dtype = mst_value_spec(o.src).dtype;
    if (dtype != MST_F32 && dtype != MST_F64)
        return mst_value_fail(graph, MST_INVALID, "l2_normalize: '%s' is %s, must be f32 or f64", mst_value_name(o.src),
                              mst_dtype_name(dtype));
    if (!(o.epsilon >= 0 && o.epsilon <= 1e30))
        return mst_value_fail(graph, MST_INVALID, "l2_normalize: epsilon is %g, must be above 0", o.epsilon);
    const mst_value squares = mst_reduce_sum(mst_square(o.src), .axes = o.axes, .keep_dims = true);
    const mst_value least = mst_scalar(graph, dtype, o.epsilon > 0 ? o.epsilon : 1e-12);
    return mst_mul(o.src, mst_rsqrt(mst_maximum(squares, least)));
}
