/** atan2: dst = the angle of the point (x, y), in radians from -pi to pi
 *
 *  y, x  shapes that broadcast as in NumPy, of one dtype: f32 or f64
 *  dst   the broadcast shape, of their dtype; may alias either
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_atan2(mst_value y, mst_value x);
#endif
#include "op/elementwise/elementwise.h"

/* (x dy - y dx) / (x^2 + y^2) */
static mst_value atan2_grad(mst_grad *c, int i) {
    mst_value y = c->src[0], x = c->src[1];
    mst_value share = mst_div(c->ddst[0], mst_add(mst_square(x), mst_square(y)));
    return mst_unbroadcast(i == 0 ? mst_mul(share, x) : mst_neg(mst_mul(share, y)), c->src[i]);
}

/* the first source is y, as in math.h */
#define OP atan2
#define FORMULA atan2(x, y)
#include "op/binary/binary_math.inc"

static const mst_example atan2_examples[] = {
    {.num_src = 2,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){1, -1, 0.5, 2}},
             {.ndim = 1, .dim = {4}, .value = (const double[]){1, -1, -2, 0.5}}},
     .expect = {(const double[]){0.7853981633974483, -2.356194490192345, 2.896613990462929, 1.3258176636680326}}},
    {.num_src = 2,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){0, 1, 0}, .no_grad = true},
             {.ndim = 1, .dim = {3}, .value = (const double[]){0, 0, -1}, .no_grad = true}},
     .expect = {(const double[]){0, 1.5707963267948966, 3.141592653589793}}},
    {.name = "outer",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 1}, .value = (const double[]){1, 2}},
             {.ndim = 2, .dim = {1, 3}, .value = (const double[]){1, 2, 4}}},
     .expect = {(const double[]){0.7853981633974483, 0.4636476090008061, 0.24497866312686414, 1.1071487177940904,
                                 0.7853981633974483, 0.4636476090008061}}},
    {.name = "scalar",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){1, 2, 3}}, {.value = (const double[]){2}}},
     .expect = {(const double[]){0.4636476090008061, 0.7853981633974483, 0.982793723247329}}},
    {.num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 1, 4}, .low = 0.5, .high = 2}, {.ndim = 2, .dim = {3, 1}, .low = 0.5, .high = 2}}},
    {.name = "empty", .num_src = 2, .src = {{.ndim = 2, .dim = {0, 3}}, {.ndim = 1, .dim = {3}, .low = 1, .high = 3}}},
    {.num_src = 2, .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 1, .dim = {2}}}, .fails = MST_INVALID},
    {.num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}}, {.dtype = MST_F64, .ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_atan2 = {
    .name = "atan2",
    .tf_form = "Atan2($0, $1)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_binary,
    .grad = atan2_grad,
    .reference = atan2_reference,
    .hlo = "atan2",
    MST_EXAMPLES(atan2_examples),
};

mst_value mst_atan2(mst_value y, mst_value x) {
    return mst_call(NULL, &mst_op_atan2, 2, (const mst_value[]){y, x}, NULL);
}
