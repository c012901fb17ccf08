/** tan: dst = tan(src), src in radians
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_tan(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

/* d tan(x) = (1 + tan(x)^2) dx */
static mst_value tan_grad(mst_grad *c, int i) {
    (void)i;
    return mst_mul(c->ddst[0], mst_add(mst_square(c->dst[0]), mst_number(c->dst[0], 1)));
}

static void tan_lower(mst_lower *l) {
    const mst_hlo x = l->src[0];
    l->dst[0] = mst_hlo_binary(l, "divide", mst_hlo_unary(l, "sine", x), mst_hlo_unary(l, "cosine", x));
}

#define OP tan
#define FORMULA tan(x)
#include "op/unary/unary_math.inc"

static const mst_example tan_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-1, 0, 0.5, 3}}},
     .expect = {(const double[]){-1.5574077246549023, 0, 0.5463024898437905, -0.1425465430742778}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}, .low = -1, .high = 1}}},
};

const mst_op mst_op_tan = {
    .name = "tan",
    .tf_form = "Tan($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = tan_grad,
    .reference = tan_reference,
    .lower = tan_lower,
    MST_EXAMPLES(tan_examples),
};

mst_value mst_tan(mst_value src) {
    return mst_call(NULL, &mst_op_tan, 1, &src, NULL);
}
