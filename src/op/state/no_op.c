/** no_op: does nothing; a node to which control dependencies can be attached
 *
 *  dst  bool scalar, always true
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_no_op(mst_graph *graph);
#endif
#include "op/op.h"

#include "base/argument.h"

static mst_status no_op_infer(mst_infer *c) {
    c->dst[0] = (mst_spec){.dtype = MST_BOOL, .shape = MST_SCALAR};
    return MST_OK;
}

static mst_status no_op_reference(const mst_kernel_args *a) {
    *(uint8_t *)a->dst[0].data = 1;
    return MST_OK;
}

static const mst_example no_op_examples[] = {{.expect = {(const double[]){1}}}};

const mst_op mst_op_no_op = {
    .name = "no_op",
    .tf_form = "NoOp()",
    .num_src = 0,
    .num_dst = 1,
    .dtypes = MST_DTYPE_BIT(MST_BOOL),
    .flags = MST_OP_NO_VALUE | MST_OP_STATEFUL,
    .infer = no_op_infer,
    .reference = no_op_reference,
    MST_EXAMPLES(no_op_examples),
};

mst_value mst_no_op(mst_graph *graph) {
    if (MST_IS_NULL(graph)) return MST_NONE;
    return mst_call(graph, &mst_op_no_op, 0, NULL, NULL);
}
