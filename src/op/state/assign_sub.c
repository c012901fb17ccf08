/** assign_sub: variable -= value
 *
 *  variable  the output of mst_variable, which is written; or the output of an assignment: then this one runs after it
 *  value     its dtype and shape
 *  dst       the variable after the write: what reads dst reads the new value
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_assign_sub(mst_value variable, mst_value value);
#endif
#include "graph/graph.h"
#include "op/op.h"
#include "op/share.h"

static mst_status infer(mst_infer *c) {
    MST_TRY(mst_infer_want_listed(c, 0));
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    MST_TRY(mst_infer_same_shape(c, 0, 1, &c->dst[0].shape));
    c->dst[0].dtype = c->src[0].dtype;
    return MST_OK;
}

static bool writes(const void *options, int num_src, int i) {
    (void)options, (void)num_src;
    return i == 0;
}

/* integers wrap around without undefined behaviour */
#define LOOP(T, U)                                                                             \
    {                                                                                          \
        T *variable = a->src[0].data;                                                          \
        const T *value = a->src[1].data;                                                       \
        for (int64_t i = begin; i < end; i++) variable[i] = (T)((U)variable[i] - (U)value[i]); \
        return MST_OK;                                                                         \
    }

/* Elements BEGIN to END - 1. */
static mst_status subtract(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    (void)thread;
    switch (a->src[1].dtype) {
        case MST_F32: LOOP(float, float)
        case MST_F64: LOOP(double, double)
        case MST_I32: LOOP(int32_t, uint32_t)
        case MST_I64: LOOP(int64_t, uint64_t)
        default: LOOP(uint8_t, uint32_t)
    }
}

static mst_status reference(const mst_kernel_args *a) {
    return mst_parallel(a, a->src[1].count, mst_grain(a->src[1].count, 1), subtract, mst_context_of(a));
}

/* the source must be a variable: values are tested in test/run/variables_test.c */
static const mst_example examples[] = {
    {.num_src = 2, .src = {{.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {3}}}, .fails = MST_INVALID}};

const mst_op mst_op_assign_sub = {
    .name = "assign_sub",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_STATEFUL | MST_OP_VIEW | MST_OP_INFALLIBLE,
    .infer = infer,
    .writes = writes,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_assign_sub(mst_value variable, mst_value value) {
    return mst_call_writer(&mst_op_assign_sub, variable, value);
}
