/** log_softmax: dst[..., j] = src[..., j] - log(sum over k of exp(src[..., k]))
 *
 *  src  f32 or f64, at least one dimension. The last dimension is a row; rows are independent of each other
 *  dst  like src
 *
 *  The maximum of a row is subtracted first, so that nothing overflows and small probabilities keep their digits.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_log_softmax(mst_value src);
#endif
#include "op/op.h"
#include "op/share.h"
#include "op/softmax/softmax.h"

/* dy - softmax * (sum of dy over the row) */
static mst_value log_softmax_grad(mst_grad *c, int i) {
    (void)i;
    mst_value sum = mst_reduce_sum(.src = c->ddst[0], .axes = MST_AXES(-1), .keep_dims = true);
    return mst_sub(c->ddst[0], mst_mul(mst_exp(c->dst[0]), sum));
}

static void log_softmax_lower(mst_lower *l) {
    const mst_softmax_row row = mst_softmax_lower(l, l->src[0]);
    l->dst[0] = mst_hlo_binary(l, "subtract", row.shifted, mst_hlo_unary(l, "log", row.sum));
}

/* The exponentials go to dst, where the result replaces them. */
MST_SIMD static void rows_f32(const float *src, float *dst, int64_t rows, int64_t n) {
    for (int64_t row = 0; row < rows; row++, src += n, dst += n) {
        const float most = mst_softmax_max_f32(src, n), log_sum = logf(mst_softmax_exp_f32(src, most, n, dst));
        for (int64_t j = 0; j < n; j++) dst[j] = src[j] - most - log_sum;
    }
}

static void rows_f64(const double *src, double *dst, int64_t rows, int64_t n) {
    for (int64_t row = 0; row < rows; row++, src += n, dst += n) {
        const double most = mst_softmax_max_f64(src, n), log_sum = log(mst_softmax_exp_f64(src, most, n, dst));
        for (int64_t j = 0; j < n; j++) dst[j] = src[j] - most - log_sum;
    }
}

static mst_status log_softmax_reference(const mst_kernel_args *a) {
    return mst_softmax_run(a, rows_f32, rows_f64);
}

#define LOG_2 0.69314718055994530942
#define LOG_3 1.0986122886681098
#define LOG_6 1.791759469228055

static const mst_example log_softmax_examples[] = {
    {.name = "small",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {1, 3}, .value = (const double[]){0, LOG_2, LOG_3}}},
     .expect = {(const double[]){-LOG_6, LOG_2 - LOG_6, LOG_3 - LOG_6}}},
    {.name = "far from zero",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){1000, 1000, 2000, -2000}, .no_grad = true}},
     .expect = {(const double[]){-LOG_2, -LOG_2, 0, -4000}}},
    {.name = "vector", .num_src = 1, .src = {{.ndim = 1, .dim = {5}}}},
    {.name = "long rows", .num_src = 1, .src = {{.ndim = 3, .dim = {2, 1, 75}, .low = -8, .high = 8}}},
    {.name = "scalar", .num_src = 1, .src = {{.ndim = 0}}, .fails = MST_INVALID},
    {.name = "integers", .num_src = 1, .src = {{.dtype = MST_I64, .ndim = 1, .dim = {2}}}, .fails = MST_INVALID},
};

const mst_op mst_op_log_softmax = {
    .name = "log_softmax",
    .tf_form = "LogSoftmax($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .infer = mst_softmax_infer,
    .grad = log_softmax_grad,
    .reference = log_softmax_reference,
    .lower = log_softmax_lower,
    MST_EXAMPLES(log_softmax_examples),
};

mst_value mst_log_softmax(mst_value src) {
    return mst_call(NULL, &mst_op_log_softmax, 1, &src, NULL);
}
