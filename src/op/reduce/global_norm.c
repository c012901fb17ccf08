/** global_norm: dst = sqrt(sum over values of sum(value^2))
 *
 *  values  at least one, f32 or f64, of one dtype, any shapes
 *  dst     their dtype, scalar
 *
 *  The squares are summed in f64 in the order of the values, and the result is rounded once. The gradient is
 *  values[i] / dst, which is NaN if all values are 0, as in TensorFlow.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_global_norm(const mst_value *values, int n);
#endif
#include <math.h>

#include "op/op.h"
#include "op/reduce/reduce.h"
#include "op/reduce/sum_squares.h"

static mst_status global_norm_infer(mst_infer *c) {
    if (c->num_src < 1) return mst_infer_fail(c, "needs at least one value");
    MST_TRY(mst_infer_want_float(c, 0));
    for (int i = 1; i < c->num_src; i++) MST_TRY(mst_infer_same_dtype(c, 0, i));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = {.ndim = 0}};
    return MST_OK;
}

/* d norm / d src = src / norm */
static mst_value global_norm_grad(mst_grad *c, int i) {
    return mst_mul(c->src[i], mst_div(c->ddst[0], c->dst[0]));
}

/* In f64 as the kernel, so that no square overflows. */
static void global_norm_lower(mst_lower *l) {
    mst_hlo sum = MST_NO_HLO;
    for (int i = 0; i < l->num_src; i++) {
        const mst_axes all = mst_reduce_axes(&(const mst_axes){.count = 0}, l->src_spec[i].shape.ndim);
        const mst_hlo x = mst_hlo_convert(l, l->src[i], MST_F64);
        const mst_hlo part = mst_hlo_reduce(l, "add", mst_hlo_binary(l, "multiply", x, x), 0, all);
        sum = i ? mst_hlo_binary(l, "add", sum, part) : part;
    }
    l->dst[0] = mst_hlo_convert(l, mst_hlo_unary(l, "sqrt", sum), l->dst_spec[0].dtype);
}

static mst_status global_norm_reference(const mst_kernel_args *a) {
    double sum;
    MST_TRY(mst_sum_squares(a, &sum));
    if (a->dst[0].dtype == MST_F32)
        *(float *)a->dst[0].data = (float)sqrt(sum);
    else
        *(double *)a->dst[0].data = sqrt(sum);
    return MST_OK;
}

static const mst_example global_norm_examples[] = {
    {.name = "two shapes",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){2, -4}},
             {.ndim = 2, .dim = {1, 2}, .value = (const double[]){5, 2}}},
     .expect = {(const double[]){7}}},
    {.name = "scalar",
     .num_src = 1,
     .src = {{.ndim = 0, .value = (const double[]){-3}}},
     .expect = {(const double[]){3}}},
    {.name = "three", .num_src = 3, .src = {{.ndim = 1, .dim = {40}}, {.ndim = 0}, {.ndim = 2, .dim = {2, 3}}}},
    {.name = "large squares",
     .num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}, .value = (const double[]){3e30, 4e30}, .no_grad = true}},
     .expect = {(const double[]){5e30}}},
    {.name = "of nothing", .num_src = 1, .src = {{.ndim = 1, .dim = {0}}}, .expect = {(const double[]){0}}},
    {.name = "dtypes differ",
     .num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 0}, {.dtype = MST_F64, .ndim = 0}},
     .fails = MST_INVALID},
    {.name = "integers", .num_src = 1, .src = {{.dtype = MST_I32, .ndim = 0}}, .fails = MST_INVALID},
};

const mst_op mst_op_global_norm = {
    .name = "global_norm",
    .num_src = MST_VARIADIC,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .infer = global_norm_infer,
    .grad = global_norm_grad,
    .workspace = mst_sum_squares_workspace,
    .reference = global_norm_reference,
    .lower = global_norm_lower,
    MST_EXAMPLES(global_norm_examples),
};

mst_value mst_global_norm(const mst_value *values, int n) {
    return mst_call(NULL, &mst_op_global_norm, n, values, NULL);
}
