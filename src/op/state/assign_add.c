/** assign_add: variable += value
 *
 *  variable  the output of mst_variable, which is written; or the output of an assignment, after which this one runs
 *  value     its dtype and shape
 *  dst       the variable after the write: a reader of dst gets the new value
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_assign_add(mst_value variable, mst_value value);
#endif
#include "graph/graph.h"
#include "op/op.h"
#include "op/share.h"
#include "op/state/assign.h"

#define OP assign_add
#define CHANGE(variable, value) ((variable) + (value))
#include "op/state/assign_change.inc"

const mst_op mst_op_assign_add = {
    .name = "assign_add",
    .tf_form = "AssignAdd($0, $1; use_locking=*)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_STATEFUL | MST_OP_VIEW | MST_OP_INFALLIBLE,
    .infer = mst_assign_infer,
    .writes = mst_assign_writes,
    .reference = assign_add_reference,
    .hlo = "add",
    MST_EXAMPLES(assign_change_examples),
};

mst_value mst_assign_add(mst_value variable, mst_value value) {
    return mst_call_writer(&mst_op_assign_add, variable, 1, &value);
}
