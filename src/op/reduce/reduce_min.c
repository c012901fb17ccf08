/** reduce_min: dst = the smallest element of src along axes
 *
 *  src        f32, f64, i32, i64 or u8, any shape
 *  dst        src's dtype; src's dimensions without the axes, or with 1 in their place with keep_dims
 *  axes       negative ones count from the end; none: all
 *  keep_dims  dst keeps the axes, as dimensions of 1
 *
 *  A NaN among the elements makes the result NaN. The result for no elements is inf, or the greatest integer of the
 *  dtype. All elements that are the smallest get equal shares of the gradient.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_reduce_min_with(mst_reduce_options options);
#define mst_reduce_min(...) mst_reduce_min_with(MST_NAMED_1(mst_reduce_options, src, __VA_ARGS__))
#endif
#include <math.h>

#include "op/op.h"
#include "op/reduce/reduce.h"

static void reduce_min_lower(mst_lower *l) {
    l->dst[0] = mst_reduce_lower(l, "minimum", l->src[0], INFINITY);
}

/* an accumulator that is NaN stays NaN, as nothing is < NaN */
#define OP reduce_min
#define START HIGHEST
#define STEP(best, x) ((x) < (best) || IS_NAN(x) ? (x) : (best))
#define CHOOSE(largest, smallest) smallest
#include "op/reduce/reduce_extreme.inc"

const mst_op mst_op_reduce_min = {
    .name = "reduce_min",
    .tf_form = "Min($0, @axes; keep_dims=keep_dims Tidx=i32)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_reduce_fields,
    .options_size = sizeof(mst_reduce_options),
    .infer = mst_reduce_infer,
    .grad = mst_reduce_extreme_grad,
    .workspace = mst_reduce_workspace,
    .reference = reduce_min_reference,
    .lower = reduce_min_lower,
    MST_EXAMPLES(extreme_examples),
};

mst_value mst_reduce_min_with(mst_reduce_options options) {
    return mst_call(NULL, &mst_op_reduce_min, 1, &options.src, &options);
}
