/** identity: dst = src
 *
 *  src  any shape and dtype
 *  dst  like src, the same memory
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_identity(mst_value src);
#endif
#include <string.h>

#include "op/op.h"

static mst_status infer(mst_infer *c) {
    c->dst[0] = c->src[0];
    return MST_OK;
}

static mst_value grad(mst_grad *c, int i) {
    (void)i;
    return c->ddst[0];
}

static mst_status reference(const mst_kernel_args *a) {
    size_t bytes = (size_t)a->dst[0].count * mst_dtype_size(a->dst[0].dtype);
    if (bytes && a->dst[0].data != a->src[0].data) memcpy(a->dst[0].data, a->src[0].data, bytes);
    return MST_OK;
}

static const mst_example examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){1, 0, 1}}},
     .expect = {(const double[]){1, 0, 1}}},
};

const mst_op mst_op_identity = {
    .name = "identity",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_STORED_DTYPES,
    .flags = MST_OP_VIEW,
    .infer = infer,
    .grad = grad,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_identity(mst_value src) {
    return mst_call(NULL, &mst_op_identity, 1, &src, NULL);
}
