/** top_k: the k largest elements of each row, the largest first
 *
 *  src      f32, f64, i32, i64 or u8, [..., n]
 *  k        1 (the default) to n
 *  values   output 0, src's dtype, [..., k]
 *  indices  output 1, i32, [..., k]: values[..., j] = src[..., indices[..., j]]
 *
 *  Of equal elements the one with the lower index comes first. NaN comes after all numbers.
 */
#ifdef MST_OP_HEADER
typedef struct mst_top_k_options {
    int zero_;
    mst_value src;
    int k; /**< default 1 */
} mst_top_k_options;
/** Returns output 0, the values; the indices are mst_value_output(value, 1). */
MST_API mst_value mst_top_k_with(mst_top_k_options options);
#define mst_top_k(...) mst_top_k_with(MST_NAMED_1(mst_top_k_options, src, __VA_ARGS__))
#endif
#include "op/index/index_hlo.h"
#include "op/index/row_index.h"
#include "op/op.h"
#include "op/share.h"

static const mst_field top_k_fields[] = {
    MST_FIELD_I32(mst_top_k_options, k, 1, 1, INT32_MAX, "elements kept of each row"),
    MST_FIELD_END,
};

static mst_status top_k_infer(mst_infer *c) {
    const int k = ((const mst_top_k_options *)c->options)->k;
    MST_TRY(mst_infer_want_listed(c, 0));
    mst_shape shape = c->src[0].shape;
    if (shape.ndim < 1) return mst_infer_fail(c, "source 0 is a scalar, must have rows");
    int64_t *n = &shape.dim[shape.ndim - 1];
    if (*n >= 0 && *n < k) return mst_infer_fail(c, "rows have %lld elements, fewer than k = %d", (long long)*n, k);
    if (*n > INT32_MAX) return mst_infer_fail(c, "rows have %lld elements, more than i32 counts", (long long)*n);
    *n = k;
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = shape};
    c->dst[1] = (mst_spec){.dtype = MST_I32, .shape = shape};
    return MST_OK;
}

static mst_value top_k_grad(mst_grad *c, int i) {
    (void)i;
    if (mst_value_is_none(c->ddst[0])) return MST_NONE; /* the indices have no gradient */
    return mst_scatter_last(c->ddst[0], c->dst[1], c->src[0]);
}

static void top_k_lower(mst_lower *l) {
    const int last = l->dst_spec[0].shape.ndim - 1;
    mst_hlo sorted[2];
    mst_hlo_sort_rows(l, l->src[0], true, &sorted[0], &sorted[1]);
    for (int i = 0; i < 2; i++)
        l->dst[i] = mst_hlo_slice_axis(l, sorted[i], last, 0, ((const mst_top_k_options *)l->options)->k);
}

#define MST_TEMPLATE "op/index/top_k_rows.inc"
#include "op/numbers.inc"

/* Computes rows BEGIN to END - 1. */
static mst_status top_k_run(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const int32_t n = (int32_t)a->src[0].shape.dim[a->src[0].shape.ndim - 1];
    const int32_t k = ((const mst_top_k_options *)a->options)->k;
    (void)thread;
    static void (*const top[MST_NUM_DTYPES])(const mst_kernel_args *, int64_t, int64_t, int32_t,
                                             int32_t) = {MST_BY_NUMBER(top)};
    top[a->src[0].dtype](a, begin, end, n, k);
    return MST_OK;
}

static mst_status top_k_reference(const mst_kernel_args *a) {
    const int64_t k = ((const mst_top_k_options *)a->options)->k, n = a->src[0].shape.dim[a->src[0].shape.ndim - 1];
    const int64_t rows = a->dst[0].count / k;
    return mst_parallel(a, rows, mst_grain(rows, 8 * n), top_k_run, mst_context_of(a));
}

static const mst_example top_k_examples[] = {
    {.name = "two rows",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 5}, .value = (const double[]){3, 9, 1, 7, 5, 20, 21, 22, 24, 23}}},
     .options = &(const mst_top_k_options){.k = 3},
     .expect = {(const double[]){9, 7, 5, 24, 23, 22}, (const double[]){1, 3, 4, 3, 4, 2}}},
    {.name = "equal elements",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {7}, .value = (const double[]){2, 5, 2, 5, 1, 5, 2}, .no_grad = true}},
     .options = &(const mst_top_k_options){.k = 5},
     .expect = {(const double[]){5, 5, 5, 2, 2}, (const double[]){1, 3, 5, 0, 2}}},
    {.name = "all of them",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {1, 4}, .value = (const double[]){4, 6, 5, 7}}},
     .options = &(const mst_top_k_options){.k = 4},
     .expect = {(const double[]){7, 6, 5, 4}, (const double[]){3, 1, 2, 0}}},
    {.name = "not a number",
     .num_src = 1,
     .src = {{.dtype = MST_F32,
              .ndim = 1,
              .dim = {4},
              .value = (const double[]){__builtin_nan(""), -__builtin_inf(), 3, 4},
              .no_grad = true}},
     .options = &(const mst_top_k_options){.k = 3},
     .expect = {(const double[]){4, 3, -__builtin_inf()}, (const double[]){3, 2, 1}}},
    {.name = "largest alone",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 3, 2, 6, 5, 4}}},
     .expect = {(const double[]){3, 6}, (const double[]){1, 0}}},
    {.name = "many",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {2, 2, 33}}},
     .options = &(const mst_top_k_options){.k = 9}},
    {.name = "more than there are",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}}},
     .options = &(const mst_top_k_options){.k = 4},
     .fails = MST_INVALID},
    {.name = "negative",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}}},
     .options = &(const mst_top_k_options){.k = -1},
     .fails = MST_INVALID},
    {.name = "scalar", .num_src = 1, .src = {{.ndim = 0}}, .fails = MST_INVALID},
    {.name = "bool", .num_src = 1, .src = {{.dtype = MST_BOOL, .ndim = 1, .dim = {3}}}, .fails = MST_INVALID},
};

const mst_op mst_op_top_k = {
    .name = "top_k",
    .tf_form = "TopKV2($0, k; sorted=true T=t0 Tk=i32 index_type=i32)",
    .num_src = 1,
    .num_dst = 2,
    .dtypes = MST_NUMBERS,
    .fields = top_k_fields,
    .options_size = sizeof(mst_top_k_options),
    .infer = top_k_infer,
    .grad = top_k_grad,
    .reference = top_k_reference,
    .lower = top_k_lower,
    MST_EXAMPLES(top_k_examples),
};

mst_value mst_top_k_with(mst_top_k_options options) {
    return mst_call(NULL, &mst_op_top_k, 1, &options.src, &options);
}
