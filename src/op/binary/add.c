/** add: dst = a + b
 *
 *  a, b  shapes that broadcast as in NumPy, of one dtype: f32, f64, i32, i64 or u8
 *  dst   the broadcast shape, of their dtype; may alias either
 *
 *  Integers wrap around.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_add(mst_value a, mst_value b);
#endif
#include "op/elementwise/elementwise.h"

static mst_value add_grad(mst_grad *c, int i) {
    return mst_unbroadcast(c->ddst[0], c->src[i]);
}

#define OP add
#define WORK MODULAR /* integers wrap around */
#define FORMULA (x + y)
#include "op/binary/binary_numbers.inc"

/* the expected results of the examples in broadcast_examples.inc */
#define LAST_AXIS 7, 9, 11, 10, 12, 15
#define OUTER 8, 9, 11, 10, 11, 13
#define SCALAR 7, 8, 11
static const mst_example add_examples[] = {
    {.num_src = 2,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){0, 1, 2}},
             {.ndim = 1, .dim = {3}, .value = (const double[]){3, 4, 5}}},
     .expect = {(const double[]){3, 5, 7}}},
#include "op/binary/broadcast_examples.inc"
    {.num_src = 2,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {1}, .value = (const double[]){2147483647}},
             {.dtype = MST_I32, .ndim = 1, .dim = {1}, .value = (const double[]){1}}},
     .expect = {(const double[]){-0x1p31}}},
    {.num_src = 2,
     .src = {{.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){-0x1p63, 5}},
             {.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){-0x1p63, -7}}},
     .expect = {(const double[]){0, -2}}},
    {.num_src = 2,
     .src = {{.dtype = MST_U8, .ndim = 1, .dim = {1}, .value = (const double[]){255}},
             {.dtype = MST_U8, .ndim = 1, .dim = {1}, .value = (const double[]){2}}},
     .expect = {(const double[]){1}}},
    {.num_src = 2, .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 2, .dim = {2, 3}}}},
    {.num_src = 2, .src = {{.ndim = 3, .dim = {2, 1, 4}}, {.ndim = 2, .dim = {3, 1}}}},
    {.num_src = 2, .src = {{.ndim = 5, .dim = {2, 1, 3, 1, 2}}, {.ndim = 4, .dim = {4, 1, 2, 2}}}},
    MST_BINARY_EXAMPLES,
};

const mst_op mst_op_add = {
    .name = "add",
    .tf_form =
        "Add($0, $1)\n"
        "<AddV2($0, $1)\n"
        "<BiasAdd($0, $1; data_format='NHWC')",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_binary,
    .grad = add_grad,
    .reference = add_reference,
    .hlo = "add",
    MST_EXAMPLES(add_examples),
};

mst_value mst_add(mst_value a, mst_value b) {
    return mst_call(NULL, &mst_op_add, 2, (const mst_value[]){a, b}, NULL);
}
