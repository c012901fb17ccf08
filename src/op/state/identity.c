/** identity: dst = src
 *
 *  src  any shape and dtype
 *  dst  like src, the same memory
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_identity(mst_value src);
#endif
#include "op/op.h"
#include "op/shape/strided.h"

static mst_status identity_infer(mst_infer *c) {
    c->dst[0] = c->src[0];
    return MST_OK;
}

static mst_value identity_grad(mst_grad *c, int i) {
    (void)i;
    return c->ddst[0];
}

static const mst_example identity_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){1, 0, 1}}},
     .expect = {(const double[]){1, 0, 1}}},
};

const mst_op mst_op_identity = {
    .name = "identity",
    .tf_form = "Identity($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_VIEW,
    .infer = identity_infer,
    .grad = identity_grad,
    .reference = mst_view_copy,
    .lower = mst_view_lower,
    MST_EXAMPLES(identity_examples),
};

mst_value mst_identity(mst_value src) {
    return mst_call(NULL, &mst_op_identity, 1, &src, NULL);
}
