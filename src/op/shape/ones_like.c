/** ones_like: dst = 1
 *
 *  src  any shape and dtype; only its shape and dtype are used
 *  dst  like src; true if bool
 *
 *  No gradient flows through.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_ones_like(mst_value src);
#endif
#include "op/elementwise/elementwise.h"
#include "op/shape/strided.h"

static void ones_like_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_fill(l, l->dst_spec[0].dtype, l->dst_spec[0].shape, 1);
}

static mst_status ones_like_reference(const mst_kernel_args *a) {
    return mst_array_fill(a, &a->dst[0], 1);
}

enum { VALUE = 1 };
#include "op/shape/filled_like_examples.inc"

const mst_op mst_op_ones_like = {
    .name = "ones_like",
    .tf_form = "OnesLike($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_STORED_DTYPES,
    .shape_only = 1,
    .infer = mst_infer_unary,
    .reference = ones_like_reference,
    .lower = ones_like_lower,
    MST_EXAMPLES(filled_like_examples),
};

mst_value mst_ones_like(mst_value src) {
    return mst_call(NULL, &mst_op_ones_like, 1, &src, NULL);
}
