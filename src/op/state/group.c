/** group: a node that runs after all of its sources
 *
 *  src  any values; the node only waits for them
 *  dst  bool scalar, always true
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_group(const mst_value *src, int num_src);
#endif
#include "op/op.h"

static mst_status group_infer(mst_infer *c) {
    c->dst[0] = (mst_spec){.dtype = MST_BOOL, .shape = MST_SCALAR};
    return MST_OK;
}

static mst_status group_reference(const mst_kernel_args *a) {
    *(uint8_t *)a->dst[0].data = 1;
    return MST_OK;
}

static const mst_example group_examples[] = {
    {.num_src = 2, .src = {{.ndim = 1, .dim = {2}}, {.ndim = 0}}, .expect = {(const double[]){1}}}};

const mst_op mst_op_group = {
    .name = "group",
    .tf_form = ">NoOp(^*)",
    .num_src = MST_VARIADIC,
    .num_dst = 1,
    .dtypes = MST_STORED_DTYPES,
    .flags = MST_OP_NO_VALUE | MST_OP_STATEFUL,
    .infer = group_infer,
    .reference = group_reference,
    MST_EXAMPLES(group_examples),
};

mst_value mst_group(const mst_value *src, int num_src) {
    return mst_call(NULL, &mst_op_group, num_src, src, NULL);
}
