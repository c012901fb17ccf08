/** glu: dst = a sigmoid(b), where a and b are the first and the second half of src along axis
 *
 *  src   f32 or f64; dimension axis must be even
 *  axis  default -1, the last; negative ones count from the end
 *  dst   like src, dimension axis half as long
 *
 *  The gated linear unit (Dauphin et al., 2017, "Language Modeling with Gated Convolutional Networks", section 2), as
 *  torch.nn.functional.glu. The function builds it from other ops.
 */
#ifdef MST_OP_HEADER
typedef struct mst_glu_options {
    int zero_;
    mst_value src;
    mst_axes axis; /**< one; none: the last */
} mst_glu_options;
MST_API mst_value mst_glu_with(mst_glu_options options);
#define mst_glu(...) mst_glu_with(MST_NAMED_1(mst_glu_options, src, __VA_ARGS__))
#endif
#include "op/op.h"

mst_value mst_glu_with(mst_glu_options o) {
    if (mst_value_is_none(o.src)) return o.src;
    if (o.axis.count > 1)
        return mst_value_fail(mst_value_graph(o.src), MST_INVALID, "glu: %d axes, must be one", o.axis.count);
    const mst_value a = mst_split(o.src, 2, o.axis.count ? o.axis.axis[0] : -1);
    return mst_mul(a, mst_sigmoid(mst_value_output(a, 1)));
}
