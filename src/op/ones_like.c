/** ones_like: dst = 1
 *
 *  src  any shape and dtype; only its shape counts
 *  dst  like src; true where bool
 *
 *  No gradient flows through.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_ones_like(mst_value src);
#endif
#include "op/elementwise.h"

#define LOOP(name, D)                                   \
    static mst_status name(const mst_kernel_args *a) {  \
        D *dst = a->dst[0].data;                        \
        const int64_t count = a->dst[0].count;          \
        for (int64_t i = 0; i < count; i++) dst[i] = 1; \
        return MST_OK;                                  \
    }

LOOP(f32, float)
LOOP(f64, double)
LOOP(i32, int32_t)
LOOP(i64, int64_t)
LOOP(u8, uint8_t)
MST_REFERENCE([MST_F32] = f32, [MST_F64] = f64, [MST_I32] = i32, [MST_I64] = i64, [MST_U8] = u8, [MST_BOOL] = u8)

static const mst_example examples[] = {
    {.num_src = 1, .src = {{.ndim = 2, .dim = {2, 2}}}, .expect = {(const double[]){1, 1, 1, 1}}},
    {.name = "scalar", .num_src = 1, .src = {{.ndim = 0}}, .expect = {(const double[]){1}}},
    {.num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}, .value = (const double[]){NAN, INFINITY}, .no_grad = true}},
     .expect = {(const double[]){1, 1}}},
};

const mst_op mst_op_ones_like = {
    .name = "ones_like",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_ALL_DTYPES,
    .shape_only = 1,
    .infer = mst_infer_unary,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_ones_like(mst_value src) {
    return mst_call(NULL, &mst_op_ones_like, 1, &src, NULL);
}
