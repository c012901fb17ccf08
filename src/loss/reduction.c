#include "loss/loss.h"

/* sum / divisor, 0 where the divisor is 0 */
static mst_value safe_div(mst_value sum, mst_value divisor) {
    mst_value zero = mst_loss_scalar(divisor, 0), none = mst_equal(divisor, zero);
    return mst_select(none, zero, mst_div(sum, mst_select(none, mst_loss_scalar(divisor, 1), divisor)));
}

/* The number of LOSSES, as a value: the number of examples may be known only when the graph runs. */
static mst_value count(mst_value losses) {
    mst_value product = mst_loss_scalar(losses, 1);
    for (int i = 0; i < mst_value_spec(losses).shape.ndim; i++)
        product = mst_mul(product, mst_dim_size(losses, i, mst_value_spec(losses).dtype));
    return product;
}

mst_value mst_loss_reduce(mst_value losses, mst_value weights, mst_reduction reduction) {
    if (mst_value_is_none(losses))
        return mst_value_fail(mst_value_graph(losses), MST_INVALID, "loss_reduce: there are no losses");
    bool weighted = !mst_value_is_none(weights);
    mst_value weight = weights, weighted_losses = losses;
    if (weighted) {
        mst_dtype dtype = mst_value_spec(losses).dtype;
        if (mst_value_spec(weights).dtype != dtype) weight = mst_cast(weights, dtype);
        weighted_losses = mst_mul(losses, weight);
    }
    if (reduction == MST_REDUCTION_NONE) return weighted_losses;
    mst_value sum = mst_reduce_sum(.src = weighted_losses);
    if (reduction == MST_REDUCTION_SUM) return sum;
    bool by_weight = reduction == MST_REDUCTION_WEIGHTED_MEAN && weighted;
    return safe_div(sum, by_weight ? mst_reduce_sum(.src = weight) : count(losses));
}
