/** stop_gradient: dst = src; no gradient flows from dst to src
 *
 *  src  any shape and dtype
 *  dst  like src, the same memory
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_stop_gradient(mst_value src);
#endif
#include "op/op.h"
#include "op/shape/strided.h"

static mst_status stop_gradient_infer(mst_infer *c) {
    c->dst[0] = c->src[0];
    return MST_OK;
}

static const mst_example stop_gradient_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){1, 0, 1}}},
     .expect = {(const double[]){1, 0, 1}}},
};

const mst_op mst_op_stop_gradient = {
    .name = "stop_gradient",
    .tf_form = "StopGradient($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_VIEW,
    .infer = stop_gradient_infer,
    .reference = mst_view_copy,
    .lower = mst_view_lower,
    MST_EXAMPLES(stop_gradient_examples),
};

mst_value mst_stop_gradient(mst_value src) {
    return mst_call(NULL, &mst_op_stop_gradient, 1, &src, NULL);
}
