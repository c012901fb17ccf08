/** mul: dst = a * b
 *
 *  a, b  shapes that broadcast as in NumPy, of one dtype: f32, f64, i32, i64 or u8
 *  dst   the broadcast shape, of their dtype; may alias either
 *
 *  Integers wrap around.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_mul(mst_value a, mst_value b);
#endif
#include "op/elementwise/elementwise.h"

static mst_value mul_grad(mst_grad *c, int i) {
    return mst_unbroadcast(mst_mul(c->ddst[0], c->src[1 - i]), c->src[i]);
}

#define OP mul
#define WORK MODULAR /* integers wrap around */
#define FORMULA (x * y)
#include "op/binary/binary_numbers.inc"

/* the expected results of the examples in broadcast_examples.inc */
#define LAST_AXIS 6, 14, 24, 9, 20, 36
#define OUTER 7, 14, 28, 9, 18, 36
#define SCALAR 10, 12, 18
static const mst_example mul_examples[] = {
    {.num_src = 2,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){0, 1, 2}},
             {.ndim = 1, .dim = {3}, .value = (const double[]){3, 4, 5}}},
     .expect = {(const double[]){0, 4, 10}}},
#include "op/binary/broadcast_examples.inc"
    {.num_src = 2,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {2}, .value = (const double[]){65536, -3}},
             {.dtype = MST_I32, .ndim = 1, .dim = {2}, .value = (const double[]){65536, 4}}},
     .expect = {(const double[]){0, -12}}},
    {.num_src = 2,
     .src = {{.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){4294967296, -3}},
             {.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){4294967296, 4}}},
     .expect = {(const double[]){0, -12}}},
    {.num_src = 2,
     .src = {{.dtype = MST_U8, .ndim = 1, .dim = {1}, .value = (const double[]){16}},
             {.dtype = MST_U8, .ndim = 1, .dim = {1}, .value = (const double[]){17}}},
     .expect = {(const double[]){16}}},
    {.num_src = 2, .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 2, .dim = {2, 3}}}},
    {.num_src = 2, .src = {{.ndim = 3, .dim = {2, 1, 4}}, {.ndim = 2, .dim = {3, 1}}}},
    MST_BINARY_EXAMPLES,
};

const mst_op mst_op_mul = {
    .name = "mul",
    .tf_form = "Mul($0, $1)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_binary,
    .grad = mul_grad,
    .reference = mul_reference,
    .hlo = "multiply",
    MST_EXAMPLES(mul_examples),
};

mst_value mst_mul(mst_value a, mst_value b) {
    return mst_call(NULL, &mst_op_mul, 2, (const mst_value[]){a, b}, NULL);
}
