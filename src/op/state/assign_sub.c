/** assign_sub: variable -= value
 *
 *  variable  the output of mst_variable, which is written; or the output of an assignment: then this one runs after it
 *  value     its dtype and shape
 *  dst       the variable after the write: what reads dst reads the new value
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_assign_sub(mst_value variable, mst_value value);
#endif
#include "graph/graph.h"
#include "op/op.h"
#include "op/share.h"
#include "op/state/assign.h"

#define CHANGE(variable, value) ((variable) - (value))
#define MST_TEMPLATE "op/state/assign_loops.inc"
#include "op/numbers.inc"

static mst_status reference(const mst_kernel_args *a) {
    static const mst_parallel_body change[MST_NUM_DTYPES] = {MST_BY_NUMBER(change)};
    const int64_t count = a->src[1].count;
    return mst_parallel(a, count, mst_grain(count, 1), change[a->src[1].dtype], mst_context_of(a));
}

/* the source must be a variable: values are tested in test/run/variables_test.c */
static const mst_example examples[] = {
    {.num_src = 2, .src = {{.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {3}}}, .fails = MST_INVALID}};

const mst_op mst_op_assign_sub = {
    .name = "assign_sub",
    .tf_form = "AssignSub($0, $1; use_locking=*)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_STATEFUL | MST_OP_VIEW | MST_OP_INFALLIBLE,
    .infer = mst_assign_infer,
    .writes = mst_assign_writes,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_assign_sub(mst_value variable, mst_value value) {
    return mst_call_writer(&mst_op_assign_sub, variable, value);
}
