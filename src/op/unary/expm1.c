/** expm1: dst = e^src - 1, accurate also if src is near 0
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_expm1(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

/* d expm1(x) = exp(x) dx = (expm1(x) + 1) dx */
static mst_value expm1_grad(mst_grad *c, int i) {
    (void)i;
    return mst_mul(c->ddst[0], mst_add(c->dst[0], mst_number(c->dst[0], 1)));
}

#define OP expm1
#define FORMULA expm1(x)
#include "op/unary/unary_math.inc"

static const mst_example expm1_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, 0, 0.5, 1}}},
     .expect = {(const double[]){-0.8646647167633873, 0, 0.6487212707001282, 1.718281828459045}}},
    {.num_src = 1,
     .src = {{.dtype = MST_F64, .ndim = 1, .dim = {1}, .value = (const double[]){9.313225746154785e-10}}},
     .expect = {(const double[]){9.313225750491594e-10}},
     .tolerance = 1e-20},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}},
};

const mst_op mst_op_expm1 = {
    .name = "expm1",
    .tf_form = "Expm1($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .grad = expm1_grad,
    .reference = expm1_reference,
    .hlo = "exponential_minus_one",
    MST_EXAMPLES(expm1_examples),
};

mst_value mst_expm1(mst_value src) {
    return mst_call(NULL, &mst_op_expm1, 1, &src, NULL);
}
