/** round: dst = the whole number nearest to src; of two equally near, the even one
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 *
 *  No gradient flows through.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_round(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

#define OP round
#define FORMULA rint(x)
#include "op/unary/unary_floats.inc"

static const mst_example round_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1,
              .dim = {8},
              .value = (const double[]){-2.5, -1.5, -0.5, 0.5, 0.75, 1.5, 2.5, 3.25},
              .no_grad = true}},
     .expect = {(const double[]){-2, -2, 0, 0, 1, 2, 2, 3}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){INFINITY, NAN}, .no_grad = true}},
     .expect = {(const double[]){INFINITY, NAN}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}, .no_grad = true}}},
};

const mst_op mst_op_round = {
    .name = "round",
    .tf_form =
        "Round($0)\n"
        "<Rint($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .reference = round_reference,
    .hlo = "round_nearest_even",
    MST_EXAMPLES(round_examples),
};

mst_value mst_round(mst_value src) {
    return mst_call(NULL, &mst_op_round, 1, &src, NULL);
}
