/** argmax: dst = index of the largest element of src along axis
 *
 *  src    f32, f64, i32, i64 or u8, at least one dimension
 *  dst    dtype; src's dimensions without axis
 *  axis   negative ones count from the end; default 0, as in TensorFlow. Its dimension must not be 0
 *  dtype  i32 or i64, default i64
 *
 *  Of equal elements the first counts. NaN is ignored, as in TensorFlow. dst is 0 if no element is above -inf.
 *  It has no gradient.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_argmax_with(mst_arg_search_options options);
#define mst_argmax(...) mst_argmax_with(MST_NAMED_1(mst_arg_search_options, src, __VA_ARGS__))
#endif
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "op/op.h"
#include "op/reduce/arg_search.h"

static void argmax_lower(mst_lower *l) {
    mst_arg_search_lower(l, true);
}

/* Every number above -Inf is better than NaN. So NaN is found only if it is first and no number is above -Inf. */
#define BETTER(x, best) ((x) > (best) || (IS_NAN(best) && (x) > LOWEST))
#define OP argmax
#define CHOOSE(largest, smallest) largest
#include "op/reduce/arg_search.inc"

const mst_op mst_op_argmax = {
    .name = "argmax",
    .tf_form = "ArgMax($0, axis; Tidx=i32 output_type=dtype)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_arg_search_fields,
    .options_size = sizeof(mst_arg_search_options),
    .infer = mst_arg_search_infer,
    .workspace = mst_arg_search_workspace,
    .reference = argmax_reference,
    .lower = argmax_lower,
    MST_EXAMPLES(arg_search_examples),
};

mst_value mst_argmax_with(mst_arg_search_options options) {
    return mst_call(NULL, &mst_op_argmax, 1, &options.src, &options);
}
