/** softmax: dst[..., j] = exp(src[..., j]) / (sum over k of exp(src[..., k]))
 *
 *  src  f32 or f64, at least one dimension. The last dimension is a row; rows are independent of each other
 *  dst  like src; may alias it
 *
 *  The maximum of a row is subtracted first, so that nothing overflows. A row that has a NaN or +Inf, or only -Inf,
 *  gives NaN.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_softmax(mst_value src);
#endif
#include "op/softmax/softmax.h"

#include "op/op.h"
#include "op/share.h"

mst_status mst_softmax_infer(mst_infer *c) {
    MST_TRY(mst_infer_want_float(c, 0));
    if (c->src[0].shape.ndim < 1) return mst_infer_fail(c, "source 0 is a scalar, must have a dimension of classes");
    c->dst[0] = c->src[0];
    return MST_OK;
}

mst_value mst_softmax_project(mst_value softmax, mst_value upstream) {
    mst_value mean = mst_reduce_sum(.src = mst_mul(upstream, softmax), .axes = MST_AXES(-1), .keep_dims = true);
    return mst_mul(softmax, mst_sub(upstream, mean));
}

mst_softmax_row mst_softmax_lower(mst_lower *l, mst_hlo logits) {
    const mst_axes last = MST_AXES(mst_hlo_spec(l, logits).shape.ndim - 1);
    mst_softmax_row row;
    const mst_hlo most = mst_hlo_reduce_keep(l, "maximum", logits, -INFINITY, last);
    row.shifted = mst_hlo_binary(l, "subtract", logits, most);
    row.power = mst_hlo_unary(l, "exponential", row.shifted);
    row.sum = mst_hlo_reduce_keep(l, "add", row.power, 0, last);
    return row;
}

typedef struct softmax_work {
    const mst_kernel_args *args;
    mst_softmax_rows_f32 *rows_f32;
    mst_softmax_rows_f64 *rows_f64;
} softmax_work;

/* Computes rows BEGIN to END - 1. */
static mst_status softmax_run(void *context, int64_t begin, int64_t end, int thread) {
    const softmax_work *w = context;
    const mst_array *src = &w->args->src[0], *dst = &w->args->dst[0];
    const int64_t classes = mst_num_classes(src), at = begin * classes;
    (void)thread;
    if (src->dtype == MST_F32)
        w->rows_f32((const float *)src->data + at, (float *)dst->data + at, end - begin, classes);
    else
        w->rows_f64((const double *)src->data + at, (double *)dst->data + at, end - begin, classes);
    return MST_OK;
}

mst_status mst_softmax_run(const mst_kernel_args *a, mst_softmax_rows_f32 *rows_f32, mst_softmax_rows_f64 *rows_f64) {
    softmax_work w = {.args = a, .rows_f32 = rows_f32, .rows_f64 = rows_f64};
    const int64_t rows = mst_num_rows(&a->src[0]), classes = mst_num_classes(&a->src[0]);
    return mst_parallel(a, rows, mst_softmax_grain(rows, classes), softmax_run, &w);
}

static mst_value softmax_grad(mst_grad *c, int i) {
    (void)i;
    return mst_softmax_project(c->dst[0], c->ddst[0]);
}

static void softmax_lower(mst_lower *l) {
    const mst_softmax_row row = mst_softmax_lower(l, l->src[0]);
    l->dst[0] = mst_hlo_binary(l, "divide", row.power, row.sum);
}

MST_SIMD static void rows_f32(const float *src, float *dst, int64_t rows, int64_t n) {
    for (int64_t row = 0; row < rows; row++, src += n, dst += n) {
        const float scale = 1.0f / mst_softmax_exp_f32(src, mst_softmax_max_f32(src, n), n, dst);
        for (int64_t j = 0; j < n; j++) dst[j] *= scale;
    }
}

static void rows_f64(const double *src, double *dst, int64_t rows, int64_t n) {
    for (int64_t row = 0; row < rows; row++, src += n, dst += n) {
        const double sum = mst_softmax_exp_f64(src, mst_softmax_max_f64(src, n), n, dst);
        for (int64_t j = 0; j < n; j++) dst[j] /= sum;
    }
}

static mst_status softmax_reference(const mst_kernel_args *a) {
    return mst_softmax_run(a, rows_f32, rows_f64);
}

/* log 1 to log 4, so that the rows are 1, 2, 3, 4 over their sums */
#define LOG_2 0.69314718055994530942
#define LOG_3 1.0986122886681098
#define LOG_4 1.3862943611198906

static const mst_example softmax_examples[] = {
    {.name = "small",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){0, LOG_2, LOG_3, LOG_4, LOG_4, 0}}},
     .expect = {(const double[]){1.0 / 6, 2.0 / 6, 3.0 / 6, 4.0 / 9, 4.0 / 9, 1.0 / 9}}},
    {.name = "far from zero",
     .num_src = 1,
     .src = {{.ndim = 2,
              .dim = {3, 2},
              .value = (const double[]){1000, 1000, -1000, -1000, 2000, -2000},
              .no_grad = true}},
     .expect = {(const double[]){0.5, 0.5, 0.5, 0.5, 1, 0}}},
    {.name = "vector", .num_src = 1, .src = {{.ndim = 1, .dim = {5}}}},
    {.name = "long rows", .num_src = 1, .src = {{.ndim = 3, .dim = {2, 1, 75}, .low = -8, .high = 8}}},
    {.name = "scalar", .num_src = 1, .src = {{.ndim = 0}}, .fails = MST_INVALID},
    {.name = "integers", .num_src = 1, .src = {{.dtype = MST_I32, .ndim = 1, .dim = {2}}}, .fails = MST_INVALID},
};

const mst_op mst_op_softmax = {
    .name = "softmax",
    .tf_form = "Softmax($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .may_alias = true,
    .infer = mst_softmax_infer,
    .grad = softmax_grad,
    .reference = softmax_reference,
    .lower = softmax_lower,
    MST_EXAMPLES(softmax_examples),
};

mst_value mst_softmax(mst_value src) {
    return mst_call(NULL, &mst_op_softmax, 1, &src, NULL);
}
