/** reduce_any: dst = whether any element of src along axes is true
 *
 *  src        bool, any shape
 *  dst        bool; src's dimensions without the axes, or with 1 in their place with keep_dims
 *  axes       negative ones count from the end; none: all
 *  keep_dims  dst keeps the axes, as dimensions of 1
 *
 *  The result for no elements is false. The op has no gradient.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_reduce_any_with(mst_reduce_options options);
#define mst_reduce_any(...) mst_reduce_any_with(MST_NAMED_1(mst_reduce_options, src, __VA_ARGS__))
#endif
#include "op/op.h"
#include "op/reduce/reduce.h"

static void reduce_any_lower(mst_lower *l) {
    l->dst[0] = mst_reduce_lower(l, "or", l->src[0], false);
}

#define OP reduce_any
#define START 0
#define STEP(a, x) ((A)((a) | (x)))
#define CHOOSE(all, any) any /* in the examples that reduce_all and reduce_any share */
#include "op/reduce/reduce_bools.inc"

const mst_op mst_op_reduce_any = {
    .name = "reduce_any",
    .tf_form = "Any($0, @axes; keep_dims=keep_dims Tidx=i32)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_DTYPE_BIT(MST_BOOL),
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_reduce_fields,
    .options_size = sizeof(mst_reduce_options),
    .infer = mst_reduce_infer,
    .workspace = mst_reduce_workspace,
    .reference = reduce_any_reference,
    .lower = reduce_any_lower,
    MST_EXAMPLES(bools_examples),
};

mst_value mst_reduce_any_with(mst_reduce_options options) {
    return mst_call(NULL, &mst_op_reduce_any, 1, &options.src, &options);
}
