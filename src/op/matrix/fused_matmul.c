/** fused_matmul: dst = activation(a b + bias)
 *
 *  a           [m, k] (transpose_a: [k, m]), f32 or f64
 *  b           [k, n] (transpose_b: [n, k])
 *  bias        [n]
 *  activation  none, relu or relu6
 *  dst         [m, n]
 *
 *  The plan makes this op, after differentiation, so it has no gradient.
 */
#include "op/matrix/fused_matmul.h"

#include "op/op.h"
#include "op/share.h"

const char *const mst_fused_activations[] = {"none", "relu", "relu6", NULL};

static const mst_field fused_matmul_fields[] = {
    MST_FIELD_BOOL(mst_fused_matmul_options, transpose_a, "a is [k, m]"),
    MST_FIELD_BOOL(mst_fused_matmul_options, transpose_b, "b is [n, k]"),
    MST_FIELD_ENUM(mst_fused_matmul_options, activation, 0, mst_fused_activations, "applied last"),
    MST_FIELD_END,
};

static mst_status fused_matmul_infer(mst_infer *c) {
    const mst_fused_matmul_options *o = c->options;
    MST_TRY(mst_infer_want_float(c, 0));
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    MST_TRY(mst_infer_same_dtype(c, 0, 2));
    for (int i = 0; i < 3; i++) MST_TRY(mst_infer_want_ndim(c, i, i < 2 ? 2 : 1));
    const int64_t *a = c->src[0].shape.dim, *b = c->src[1].shape.dim;
    int64_t n = o->transpose_b ? b[0] : b[1], k;
    MST_TRY(mst_infer_same_dim(c, a[o->transpose_a ? 0 : 1], b[o->transpose_b ? 1 : 0], "inner dimensions", &k));
    MST_TRY(mst_infer_same_dim(c, n, c->src[2].shape.dim[0], "columns and bias", &n));
    c->dst[0].dtype = c->src[0].dtype;
    c->dst[0].shape = mst_shape_make(2, (const int64_t[]){a[o->transpose_a ? 1 : 0], n});
    return MST_OK;
}

static double activate(double x, int activation) {
    if (activation == MST_FUSED_NONE) return x;
    if (x < 0) return 0;
    return activation == MST_FUSED_RELU6 && x > 6 ? 6 : x;
}

#define MST_TEMPLATE "op/matrix/fused_matmul_rows.inc"
#include "base/floats.inc"

static mst_status fused_matmul_run(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    (void)thread;
    (a->dst[0].dtype == MST_F32 ? rows_f32 : rows_f64)(a, begin, end);
    return MST_OK;
}

static mst_status fused_matmul_reference(const mst_kernel_args *args) {
    const mst_shape *dst = &args->dst[0].shape;
    const int64_t k = args->src[1].shape.dim[((const mst_fused_matmul_options *)args->options)->transpose_b ? 1 : 0];
    return mst_parallel(args, dst->dim[0], mst_grain(dst->dim[0], dst->dim[1] * k), fused_matmul_run,
                        mst_context_of(args));
}

static const mst_example fused_matmul_examples[] = {
    {.num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 2, 3, 4}},
             {.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, -1, 0, 3}},
             {.ndim = 1, .dim = {2}, .value = (const double[]){-2, 1}}},
     .options = &(const mst_fused_matmul_options){.activation = MST_FUSED_RELU},
     .expect = {(const double[]){0, 6, 1, 10}}},
    {.num_src = 3,
     .src = {{.ndim = 2, .dim = {7, 5}}, {.ndim = 2, .dim = {9, 7}}, {.ndim = 1, .dim = {9}}},
     .options =
         &(const mst_fused_matmul_options){.transpose_a = true, .transpose_b = true, .activation = MST_FUSED_RELU6}},
    {.num_src = 3, .src = {{.ndim = 2, .dim = {3, 4}}, {.ndim = 2, .dim = {4, 2}}, {.ndim = 1, .dim = {2}}}},
    {.name = "one row",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {1, 259}}, {.ndim = 2, .dim = {259, 257}}, {.ndim = 1, .dim = {257}}},
     .options = &(const mst_fused_matmul_options){.activation = MST_FUSED_RELU6}},
    {.name = "one row, b transposed",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {1, 259}}, {.ndim = 2, .dim = {257, 259}}, {.ndim = 1, .dim = {257}}},
     .options = &(const mst_fused_matmul_options){.transpose_b = true, .activation = MST_FUSED_RELU}},
    {.num_src = 3,
     .src = {{.ndim = 2, .dim = {3, 4}}, {.ndim = 2, .dim = {5, 2}}, {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_fused_matmul = {
    .name = "fused_matmul",
    .tf_form =
        ">BiasAdd(MatMul($0, $1; transpose_a=transpose_a transpose_b=transpose_b), $2; "
        "data_format='NHWC') if activation==0\n"
        ">Relu(BiasAdd(MatMul($0, $1; transpose_a=transpose_a transpose_b=transpose_b), $2; "
        "data_format='NHWC')) if activation==1\n"
        ">Relu6(BiasAdd(MatMul($0, $1; transpose_a=transpose_a transpose_b=transpose_b), $2; "
        "data_format='NHWC')) if activation==2",
    .num_src = 3,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .fields = fused_matmul_fields,
    .options_size = sizeof(mst_fused_matmul_options),
    .infer = fused_matmul_infer,
    .reference = fused_matmul_reference,
    MST_EXAMPLES(fused_matmul_examples),
};
