/** toy: dst = 2 * src, f32 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_toy(mst_value src);
#endif
#include "op/op.h"

static mst_status toy_infer(mst_infer *c) {
    c->dst[0] = c->src[0];
    return MST_OK;
}

static mst_status toy_reference(const mst_kernel_args *a) {
    const float *src = a->src[0].data;
    float *dst = a->dst[0].data;
    for (int64_t i = 0; i < a->dst[0].count; i++) dst[i] = 2 * src[i];
    return MST_OK;
}

static const mst_example toy_examples[] = {{.num_src = 1, .src = {{.ndim = 1, .dim = {4}}}}};

const mst_op mst_op_toy = {
    .name = "toy",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_DTYPE_BIT(MST_F32),
    .infer = toy_infer,
    .reference = toy_reference,
    MST_EXAMPLES(toy_examples),
};

mst_value mst_toy(mst_value src) {
    return mst_call(NULL, &mst_op_toy, 1, &src, NULL);
}
