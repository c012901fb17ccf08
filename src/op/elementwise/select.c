/** select: dst = condition ? a : b
 *
 *  condition  bool
 *  a, b       any dtype, the same for both
 *  dst        the shape to which all three broadcast as in NumPy; may alias any source of its dtype
 *
 *  Elements that are not chosen have no effect, even if they are NaN. This holds for the gradient too.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_select(mst_value condition, mst_value a, mst_value b);
#endif
#include "op/elementwise/elementwise.h"

/* Three shapes broadcast together if each pair of them does. */
static mst_status select_infer(mst_infer *c) {
    mst_shape pair, *dst = &c->dst[0].shape;
    const mst_shape *condition = &c->src[0].shape;
    MST_TRY(mst_infer_want_dtype(c, 0, MST_BOOL));
    MST_TRY(mst_infer_same_dtype(c, 1, 2));
    MST_TRY(mst_infer_broadcast(c, 0, 1, &pair));
    MST_TRY(mst_infer_broadcast(c, 0, 2, &pair));
    MST_TRY(mst_infer_broadcast(c, 1, 2, &pair));
    *dst = pair.ndim >= condition->ndim ? pair : *condition;
    for (int k = 1; k <= pair.ndim && k <= condition->ndim; k++) {
        const int64_t one = pair.dim[pair.ndim - k], other = condition->dim[condition->ndim - k];
        dst->dim[dst->ndim - k] = other == 1 || (other < 0 && one != 1) ? one : one == 1 || one < 0 ? other : one;
    }
    c->dst[0].dtype = c->src[1].dtype;
    return MST_OK;
}

static mst_value select_grad(mst_grad *c, int i) {
    mst_value condition = c->src[0], gradient = c->ddst[0];
    if (i == 0) return MST_NONE;
    mst_value zero = mst_number(gradient, 0);
    mst_value share = i == 1 ? mst_select(condition, gradient, zero) : mst_select(condition, zero, gradient);
    return mst_unbroadcast(share, c->src[i]);
}

#define MST_TEMPLATE "op/elementwise/select_rows.inc"
#include "op/numbers.inc"

static mst_status select_reference(const mst_kernel_args *a) {
    static const mst_kernel_function kernel[MST_NUM_DTYPES] = {MST_BY_NUMBER(select), [MST_BOOL] = select_u8};
    return kernel[a->src[1].dtype](a);
}

#define CONDITION(...)                                                        \
    {                                                                         \
        .dtype = MST_BOOL, .ndim = 1, .dim = {3}, .value = (const double[]) { \
            __VA_ARGS__                                                       \
        }                                                                     \
    }
#define VECTOR(D, ...)                                                 \
    {                                                                  \
        .dtype = D, .ndim = 1, .dim = {3}, .value = (const double[]) { \
            __VA_ARGS__                                                \
        }                                                              \
    }

static const mst_example select_examples[] = {
    {.num_src = 3,
     .src = {CONDITION(1, 0, 1), VECTOR(MST_F32, 1, 2, 3), VECTOR(MST_F32, 4, 5, 6)},
     .expect = {(const double[]){1, 5, 3}}},
    {.num_src = 3,
     .src = {CONDITION(1, 0, 1), VECTOR(MST_F64, 1, 2, 3), VECTOR(MST_F64, 4, 5, 6)},
     .expect = {(const double[]){1, 5, 3}}},
    {.num_src = 3,
     .src = {CONDITION(1, 0, 1), VECTOR(MST_I32, 1, -2, 3), VECTOR(MST_I32, 4, -5, 6)},
     .expect = {(const double[]){1, -5, 3}}},
    {.num_src = 3,
     .src = {CONDITION(1, 0, 1), VECTOR(MST_I64, 1, -2, 0x1p40), VECTOR(MST_I64, 4, -5, 6)},
     .expect = {(const double[]){1, -5, 0x1p40}}},
    {.num_src = 3,
     .src = {CONDITION(1, 0, 1), VECTOR(MST_U8, 1, 2, 3), VECTOR(MST_U8, 4, 255, 6)},
     .expect = {(const double[]){1, 255, 3}}},
    {.num_src = 3,
     .src = {CONDITION(1, 0, 1), VECTOR(MST_BOOL, 1, 0, 0), VECTOR(MST_BOOL, 0, 1, 1)},
     .expect = {(const double[]){1, 1, 0}}},
    {.name = "last axis",
     .num_src = 3,
     .src = {CONDITION(1, 0, 1),
             {.dtype = MST_F64, .ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}},
             VECTOR(MST_F64, 7, 8, 9)},
     .expect = {(const double[]){1, 8, 3, 4, 8, 6}}},
    {.name = "scalars",
     .num_src = 3,
     .src = {CONDITION(1, 0, 1),
             {.dtype = MST_F64, .value = (const double[]){2}},
             {.dtype = MST_F64, .value = (const double[]){3}}},
     .expect = {(const double[]){2, 3, 2}}},
    {.name = "scalar condition",
     .num_src = 3,
     .src = {{.dtype = MST_BOOL, .value = (const double[]){0}},
             VECTOR(MST_F64, 1, 2, 3),
             {.dtype = MST_F64, .ndim = 2, .dim = {2, 1}, .value = (const double[]){4, 5}}},
     .expect = {(const double[]){4, 4, 4, 5, 5, 5}}},
    {.name = "condition of more dimensions",
     .num_src = 3,
     .src = {{.dtype = MST_BOOL, .ndim = 2, .dim = {2, 1}, .value = (const double[]){1, 0}},
             VECTOR(MST_F64, 1, 2, 3),
             {.dtype = MST_F64, .value = (const double[]){7}}},
     .expect = {(const double[]){1, 2, 3, 7, 7, 7}}},
    {.name = "one vector",
     .num_src = 3,
     .src = {CONDITION(1, 0, 1), {.dtype = MST_F64, .value = (const double[]){7}}, VECTOR(MST_F64, 1, 2, 3)},
     .expect = {(const double[]){7, 2, 7}}},
    {.name = "NaN not chosen",
     .num_src = 3,
     .src = {CONDITION(1, 0, 1), VECTOR(MST_F32, 1, NAN, 3), VECTOR(MST_F32, NAN, 5, INFINITY)},
     .expect = {(const double[]){1, 5, 3}}},
    {.num_src = 3,
     .src = {{.dtype = MST_BOOL, .ndim = 3, .dim = {2, 3, 4}},
             {.dtype = MST_F64, .ndim = 3, .dim = {2, 3, 4}},
             {.dtype = MST_F64, .ndim = 2, .dim = {3, 1}}}},
    {.name = "empty",
     .num_src = 3,
     .src = {{.dtype = MST_BOOL, .ndim = 2, .dim = {0, 3}},
             {.dtype = MST_F64},
             {.dtype = MST_F64, .ndim = 1, .dim = {3}}}},
    {.name = "condition is no bool",
     .num_src = 3,
     .src = {VECTOR(MST_F32, 1, 0, 1), VECTOR(MST_F32, 1, 2, 3), VECTOR(MST_F32, 4, 5, 6)},
     .fails = MST_INVALID},
    {.num_src = 3,
     .src = {CONDITION(1, 0, 1), VECTOR(MST_F32, 1, 2, 3), VECTOR(MST_F64, 4, 5, 6)},
     .fails = MST_INVALID},
    {.num_src = 3,
     .src = {CONDITION(1, 0, 1), {.dtype = MST_F32, .ndim = 1, .dim = {2}}, {.dtype = MST_F32}},
     .fails = MST_INVALID},
};

const mst_op mst_op_select = {
    .name = "select",
    .tf_form =
        "SelectV2($0, $1, $2; T=t1)\n"
        "<Select($0, $1, $2; T=t1) if rank0==rank1\n"
        "<Select($0, $1, $2; T=t1) if rank0==0",
    .num_src = 3,
    .num_dst = 1,
    .dtypes = MST_DTYPE_BIT(MST_BOOL),
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = select_infer,
    .grad = select_grad,
    .reference = select_reference,
    .hlo = "select",
    MST_EXAMPLES(select_examples),
};

mst_value mst_select(mst_value condition, mst_value a, mst_value b) {
    return mst_call(NULL, &mst_op_select, 3, (const mst_value[]){condition, a, b}, NULL);
}
