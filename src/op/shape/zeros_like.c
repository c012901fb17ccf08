/** zeros_like: dst = 0
 *
 *  src  any shape, any dtype but string; only its shape and dtype are used
 *  dst  like src
 *
 *  No gradient flows through.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_zeros_like(mst_value src);
#endif
#include "op/elementwise/elementwise.h"
#include "op/shape/strided.h"

static void zeros_like_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_fill(l, l->dst_spec[0].dtype, l->dst_spec[0].shape, 0);
}

static mst_status zeros_like_reference(const mst_kernel_args *a) {
    return mst_zero(a, a->dst[0].data, (size_t)a->dst[0].count * mst_dtype_size(a->dst[0].dtype));
}

enum { VALUE = 0 }; /* what the examples expect in dst */
#include "op/shape/filled_like_examples.inc"

const mst_op mst_op_zeros_like = {
    .name = "zeros_like",
    .tf_form = "ZerosLike($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_STORED_DTYPES,
    .shape_only = 1,
    .infer = mst_infer_unary,
    .reference = zeros_like_reference,
    .lower = zeros_like_lower,
    MST_EXAMPLES(filled_like_examples),
};

mst_value mst_zeros_like(mst_value src) {
    return mst_call(NULL, &mst_op_zeros_like, 1, &src, NULL);
}
