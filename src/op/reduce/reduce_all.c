/** reduce_all: dst = whether all elements of src along axes are true
 *
 *  src        bool, any shape
 *  dst        bool; src's dimensions without the axes, or with 1 in their place with keep_dims
 *  axes       negative ones count from the end; none: all
 *  keep_dims  dst keeps the axes, as dimensions of 1
 *
 *  The result for no elements is true. The op has no gradient.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_reduce_all_with(mst_reduce_options options);
#define mst_reduce_all(...) mst_reduce_all_with(MST_NAMED_1(mst_reduce_options, src, __VA_ARGS__))
#endif
#include "op/op.h"
#include "op/reduce/reduce.h"

static void reduce_all_lower(mst_lower *l) {
    l->dst[0] = mst_reduce_lower(l, "and", l->src[0], true);
}

#define OP reduce_all
#define START 1
#define STEP(a, x) ((A)((a) & (x)))
#define CHOOSE(all, any) all /* in the examples that reduce_all and reduce_any share */
#include "op/reduce/reduce_bools.inc"

const mst_op mst_op_reduce_all = {
    .name = "reduce_all",
    .tf_form = "All($0, @axes; keep_dims=keep_dims Tidx=i32)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_DTYPE_BIT(MST_BOOL),
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_reduce_fields,
    .options_size = sizeof(mst_reduce_options),
    .infer = mst_reduce_infer,
    .workspace = mst_reduce_workspace,
    .reference = reduce_all_reference,
    .lower = reduce_all_lower,
    MST_EXAMPLES(bools_examples),
};

mst_value mst_reduce_all_with(mst_reduce_options options) {
    return mst_call(NULL, &mst_op_reduce_all, 1, &options.src, &options);
}
