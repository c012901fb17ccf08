#include <math.h>

#include "base/argument.h"
#include "graph/graph.h"
#include "loss/loss.h"

mst_status mst_regularizer_check(const mst_regularizer *regularizer) {
    const mst_regularizer *r = regularizer;
    if (MST_IS_NULL(regularizer)) return MST_INVALID;
    if (!(r->l1 >= 0) || isinf(r->l1))
        return MST_FAIL(MST_INVALID, "regularizer: l1 is %g, must be 0 or more, and finite", r->l1);
    if (!(r->l2 >= 0) || isinf(r->l2))
        return MST_FAIL(MST_INVALID, "regularizer: l2 is %g, must be 0 or more, and finite", r->l2);
    return MST_OK;
}

mst_value mst_regularizer_value(const mst_regularizer *regularizer, mst_value weight) {
    const mst_regularizer *r = regularizer;
    if (MST_IS_NULL(regularizer) || mst_regularizer_check(r)) return mst_value_of_last_error(mst_value_graph(weight));
    mst_value penalty = MST_NONE;
    if (r->l1 != 0) penalty = mst_scale(mst_reduce_sum(.src = mst_abs(weight)), r->l1);
    if (r->l2 == 0) return penalty;
    /* mst_l2_loss is sum w^2 / 2 */
    mst_value squares = mst_scale(mst_l2_loss(weight), r->half ? r->l2 : 2 * r->l2);
    return r->l1 != 0 ? mst_add(penalty, squares) : squares;
}
