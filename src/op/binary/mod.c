/** mod: dst = a - floor(a / b) * b, which has the sign of b, as % in Python
 *
 *  a, b  shapes that broadcast as in NumPy, of one dtype: f32, f64, i32, i64 or u8
 *  dst   the broadcast shape, of their dtype; may alias either
 *
 *  A zero in b gives NaN for floats. For integers, the run fails with MST_INVALID.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_mod(mst_value a, mst_value b);
#endif
#include "op/binary/division.h"
#include "op/elementwise/elementwise.h"

/* floor(a / b) is constant except at its jumps */
static mst_value mod_grad(mst_grad *c, int i) {
    if (i == 0) return mst_unbroadcast(c->ddst[0], c->src[0]);
    mst_value quotient = mst_floor_div(c->src[0], c->src[1]);
    return mst_unbroadcast(mst_neg(mst_mul(c->ddst[0], quotient)), c->src[1]);
}

static void mod_lower(mst_lower *l) {
    const mst_hlo divisor = mst_dtype_is_float(l->src_spec[0].dtype) ? l->src[1] : mst_divisor_lower(l);
    const mst_hlo rest = mst_hlo_binary(l, "remainder", l->src[0], divisor);
    l->dst[0] = mst_hlo_select(l, mst_rest_is_off(l, rest, divisor), mst_hlo_binary(l, "add", rest, divisor), rest);
}

/* y == -1 is treated apart, because the smallest integer % -1 traps */
static inline int64_t whole_mod(int64_t x, int64_t y) {
    if (y == -1) return 0;
    const int64_t rest = x % y;
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

static inline double real_mod(double x, double y) {
    const double rest = fmod(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

#define OP mod_unchecked
#define INTEGER_FORMULA whole_mod(x, y)
#define WORK double
#define FORMULA real_mod(x, y)
#include "op/binary/binary_numbers.inc"

static mst_status mod_reference(const mst_kernel_args *a) {
    return mst_divide(a, mod_unchecked_reference);
}

/* the expected results of the examples in broadcast_examples.inc */
#define LAST_AXIS 0, 1, 2, 0, 0, 0
#define OUTER 0, 1, 3, 0, 1, 1
#define SCALAR 1, 0, 1
#define NO_GRAD true
static const mst_example mod_examples[] = {
#include "op/binary/broadcast_examples.inc"
    {.num_src = 2,
     .dtypes = MST_FLOATS | MST_INDICES,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){7, -7, 7, -7}},
             {.ndim = 1, .dim = {4}, .value = (const double[]){2, 2, -2, -2}}},
     .expect = {(const double[]){1, 1, -1, -1}}},
    {.num_src = 2,
     .src = {{.dtype = MST_F64, .ndim = 1, .dim = {3}, .value = (const double[]){5.5, -5.5, 5.5}},
             {.dtype = MST_F64, .ndim = 1, .dim = {3}, .value = (const double[]){2, 2, -2}}},
     .expect = {(const double[]){1.5, 0.5, -0.5}}},
    {.num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {3}, .value = (const double[]){1, INFINITY, -1}, .no_grad = true},
             {.dtype = MST_F32, .ndim = 1, .dim = {3}, .value = (const double[]){0, 2, INFINITY}, .no_grad = true}},
     .expect = {(const double[]){NAN, NAN, INFINITY}}},
    {.num_src = 2,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {2}, .value = (const double[]){-0x1p31, -0x1p31}},
             {.dtype = MST_I32, .ndim = 1, .dim = {2}, .value = (const double[]){-1, 1}}},
     .expect = {(const double[]){0, 0}}},
    {.num_src = 2,
     .src = {{.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){-0x1p63, -0x1p63}},
             {.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){-1, 1}}},
     .expect = {(const double[]){0, 0}}},
    {.name = "division by zero",
     .num_src = 2,
     .dtypes = MST_INDICES | MST_DTYPE_BIT(MST_U8),
     .src = {{.ndim = 1, .dim = {3}, .low = 1, .high = 5}, {.ndim = 1, .dim = {3}, .value = (const double[]){1, 0, 2}}},
     .fails = MST_INVALID},
    {.name = "nothing divided by zero",
     .num_src = 2,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {0}}, {.dtype = MST_I32, .value = (const double[]){0}}}},
    {.num_src = 2,
     .src = {{.dtype = MST_F64, .ndim = 3, .dim = {2, 1, 4}, .low = 5.25, .high = 5.75},
             {.dtype = MST_F64, .ndim = 2, .dim = {3, 1}, .low = 2.25, .high = 2.5}}},
    MST_BINARY_EXAMPLES,
};

const mst_op mst_op_mod = {
    .name = "mod",
    .tf_form = "FloorMod($0, $1)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_INFALLIBLE_FLOATS,
    .may_alias = true,
    .infer = mst_infer_binary,
    .grad = mod_grad,
    .reference = mod_reference,
    .lower = mod_lower,
    MST_EXAMPLES(mod_examples),
};

mst_value mst_mod(mst_value a, mst_value b) {
    return mst_call(NULL, &mst_op_mod, 2, (const mst_value[]){a, b}, NULL);
}
