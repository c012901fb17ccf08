/** assign: variable = value
 *
 *  variable  the output of mst_variable, which is written; or the output of an assignment, after which this one runs
 *  value     its dtype and shape
 *  dst       the variable after the write: a reader of dst gets the new value
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_assign(mst_value variable, mst_value value);
#endif
#include "op/state/assign.h"

#include "graph/graph.h"
#include "op/op.h"
#include "op/shape/strided.h"

mst_status mst_assign_infer(mst_infer *c) {
    MST_TRY(mst_infer_want_listed(c, 0));
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    MST_TRY(mst_infer_same_shape(c, 0, 1, &c->dst[0].shape));
    c->dst[0].dtype = c->src[0].dtype;
    return MST_OK;
}

bool mst_assign_writes(const void *options, int num_src, int i) {
    (void)options, (void)num_src;
    return i == 0;
}

static void assign_lower(mst_lower *l) {
    l->dst[0] = l->src[1];
}

static mst_status assign_reference(const mst_kernel_args *a) {
    return mst_copy(a, a->src[0].data, a->src[1].data, (size_t)a->src[1].count * mst_dtype_size(a->src[1].dtype));
}

/* source 0 must be a variable, which an example cannot give: test/run/variables_test.c tests the values */
static const mst_example assign_examples[] = {
    {.num_src = 2, .src = {{.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {3}}}, .fails = MST_INVALID}};

const mst_op mst_op_assign = {
    .name = "assign",
    .tf_form = "Assign($0, $1; validate_shape=true use_locking=*)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_STORED_DTYPES,
    .flags = MST_OP_STATEFUL | MST_OP_OVERWRITES | MST_OP_VIEW | MST_OP_INFALLIBLE,
    .infer = mst_assign_infer,
    .writes = mst_assign_writes,
    .reference = assign_reference,
    .lower = assign_lower,
    MST_EXAMPLES(assign_examples),
};

mst_value mst_assign(mst_value variable, mst_value value) {
    return mst_call_writer(&mst_op_assign, variable, 1, &value);
}
