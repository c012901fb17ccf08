/** sub: dst = a - b
 *
 *  a, b  shapes that broadcast as in NumPy, of one dtype: f32, f64, i32, i64 or u8
 *  dst   the broadcast shape, of their dtype; may alias either
 *
 *  Integers wrap around.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_sub(mst_value a, mst_value b);
#endif
#include "op/elementwise/elementwise.h"

static mst_value sub_grad(mst_grad *c, int i) {
    return mst_unbroadcast(i == 0 ? c->ddst[0] : mst_neg(c->ddst[0]), c->src[i]);
}

#define OP sub
#define WORK MODULAR /* integers wrap around */
#define FORMULA (x - y)
#include "op/binary/binary_numbers.inc"

/* the expected results of the examples in broadcast_examples.inc */
#define LAST_AXIS 5, 5, 5, 8, 8, 9
#define OUTER 6, 5, 3, 8, 7, 5
#define SCALAR 3, 4, 7
static const mst_example sub_examples[] = {
    {.num_src = 2,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){3, 4, 9}},
             {.ndim = 1, .dim = {3}, .value = (const double[]){0, 1, 5}}},
     .expect = {(const double[]){3, 3, 4}}},
#include "op/binary/broadcast_examples.inc"
    {.num_src = 2,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {1}, .value = (const double[]){-0x1p31}},
             {.dtype = MST_I32, .ndim = 1, .dim = {1}, .value = (const double[]){1}}},
     .expect = {(const double[]){2147483647}}},
    {.num_src = 2,
     .src = {{.dtype = MST_I64, .ndim = 1, .dim = {1}, .value = (const double[]){-0x1p63}},
             {.dtype = MST_I64, .ndim = 1, .dim = {1}, .value = (const double[]){-0x1p63}}},
     .expect = {(const double[]){0}}},
    {.num_src = 2,
     .src = {{.dtype = MST_U8, .ndim = 1, .dim = {1}, .value = (const double[]){1}},
             {.dtype = MST_U8, .ndim = 1, .dim = {1}, .value = (const double[]){2}}},
     .expect = {(const double[]){255}}},
    {.num_src = 2, .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 2, .dim = {2, 3}}}},
    {.num_src = 2, .src = {{.ndim = 3, .dim = {2, 1, 4}}, {.ndim = 2, .dim = {3, 1}}}},
    MST_BINARY_EXAMPLES,
};

const mst_op mst_op_sub = {
    .name = "sub",
    .tf_form = "Sub($0, $1)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_binary,
    .grad = sub_grad,
    .reference = sub_reference,
    .hlo = "subtract",
    MST_EXAMPLES(sub_examples),
};

mst_value mst_sub(mst_value a, mst_value b) {
    return mst_call(NULL, &mst_op_sub, 2, (const mst_value[]){a, b}, NULL);
}
