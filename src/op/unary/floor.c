/** floor: dst = the largest whole number that is not above src
 *
 *  src  any shape, f32 or f64
 *  dst  like src; may alias it
 *
 *  No gradient flows through.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_floor(mst_value src);
#endif
#include "op/elementwise/elementwise.h"

#define OP floor
#define FORMULA floor(x)
#include "op/unary/unary_floats.inc"

static const mst_example floor_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {6}, .value = (const double[]){-2.5, -2, -0.25, 0.25, 1.5, 3}, .no_grad = true}},
     .expect = {(const double[]){-3, -2, -1, 0, 1, 3}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){INFINITY, NAN}, .no_grad = true}},
     .expect = {(const double[]){INFINITY, NAN}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}, .no_grad = true}}},
};

const mst_op mst_op_floor = {
    .name = "floor",
    .tf_form = "Floor($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_unary,
    .reference = floor_reference,
    .hlo = "floor",
    MST_EXAMPLES(floor_examples),
};

mst_value mst_floor(mst_value src) {
    return mst_call(NULL, &mst_op_floor, 1, &src, NULL);
}
