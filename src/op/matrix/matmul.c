/** matmul: dst[.., i, j] = sum over k of a[.., i, k] * b[.., k, j]
 *
 *  a            f32, f64, i32 or i64, [batch.., m, k]; [batch.., k, m] with transpose_a
 *  b            a's dtype, [batch.., k, n]; [batch.., n, k] with transpose_b
 *  dst          a's dtype, [batch.., m, n]; the batch dimensions of a and b are broadcast (NumPy's rules)
 *  transpose_a  a's last two dimensions are swapped
 *  transpose_b  b's last two dimensions are swapped
 *  precision    of a product of f32, and of its gradients; default: the session's
 *
 *  If there are no elements to sum (k = 0), dst is 0. Integers wrap around.
 */
#ifdef MST_OP_HEADER
typedef struct mst_matmul_options {
    int zero_;
    mst_value a;
    mst_value b;
    bool transpose_a;
    bool transpose_b;
    mst_precision precision;
} mst_matmul_options;
MST_API mst_value mst_matmul_with(mst_matmul_options options);
#define mst_matmul(...) mst_matmul_with(MST_NAMED_2(mst_matmul_options, a, b, __VA_ARGS__))
#endif
#include <string.h>

#include "base/simd.h"
#include "op/op.h"
#include "op/share.h"

static const mst_field matmul_fields[] = {
    MST_FIELD_BOOL(mst_matmul_options, transpose_a, "a's last two dimensions are swapped"),
    MST_FIELD_BOOL(mst_matmul_options, transpose_b, "b's last two dimensions are swapped"),
    MST_FIELD_ENUM(mst_matmul_options, precision, MST_PRECISION_DEFAULT, mst_precision_names,
                   "of a product of f32; default the session's"),
    MST_FIELD_END,
};

static mst_status infer_batch(mst_infer *c, mst_shape *out) {
    const mst_shape *a = &c->src[0].shape, *b = &c->src[1].shape;
    const int ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    out->ndim = ndim;
    for (int k = 3; k <= ndim; k++) { /* counted from the end */
        const int64_t x = k <= a->ndim ? a->dim[a->ndim - k] : 1, y = k <= b->ndim ? b->dim[b->ndim - k] : 1;
        if (x >= 0 && y >= 0 && x != 1 && y != 1 && x != y)
            return mst_infer_fail(c, "batch dimensions %lld and %lld do not broadcast", (long long)x, (long long)y);
        /* an unknown dimension must turn out to be 1, or the same as the other */
        out->dim[ndim - k] = x == 1 ? y : y == 1 ? x : x < 0 ? y : x;
    }
    return MST_OK;
}

static mst_status matmul_infer(mst_infer *c) {
    const mst_matmul_options *o = c->options;
    const mst_shape *a = &c->src[0].shape, *b = &c->src[1].shape;
    MST_TRY(mst_infer_want_listed(c, 0));
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    if (a->ndim < 2 || b->ndim < 2) return mst_infer_fail(c, "both sources must have at least two dimensions");
    const int64_t inner_a = a->dim[a->ndim - (o->transpose_a ? 2 : 1)];
    const int64_t inner_b = b->dim[b->ndim - (o->transpose_b ? 1 : 2)];
    int64_t inner;
    mst_shape *dst = &c->dst[0].shape;
    MST_TRY(mst_infer_same_dim(c, inner_a, inner_b, "inner dimensions", &inner));
    MST_TRY(infer_batch(c, dst));
    c->dst[0].dtype = c->src[0].dtype;
    dst->dim[dst->ndim - 2] = a->dim[a->ndim - (o->transpose_a ? 1 : 2)];
    dst->dim[dst->ndim - 1] = b->dim[b->ndim - (o->transpose_b ? 2 : 1)];
    return MST_OK;
}

/* Let A and B be the factors after transposition, and G the gradient: dA = G B^T, dB = A^T G. For a transposed source
 * the result is transposed back: dA^T = B G^T, dB^T = G^T A. */
static mst_value matmul_grad(mst_grad *c, int i) {
    const mst_matmul_options *o = c->options;
    const bool ta = o->transpose_a, tb = o->transpose_b;
    const mst_value a = c->src[0], b = c->src[1], g = c->ddst[0];
    const mst_precision precision = o->precision;
    mst_value product;
    if (i == 0)
        product = ta ? mst_matmul(.a = b, .b = g, .transpose_a = tb, .transpose_b = true, .precision = precision)
                     : mst_matmul(.a = g, .b = b, .transpose_b = !tb, .precision = precision);
    else
        product = tb ? mst_matmul(.a = g, .b = a, .transpose_a = true, .transpose_b = ta, .precision = precision)
                     : mst_matmul(.a = a, .b = g, .transpose_a = !ta, .precision = precision);
    bool has_batch = mst_value_spec(a).shape.ndim > 2 || mst_value_spec(b).shape.ndim > 2;
    return has_batch ? mst_unbroadcast(product, c->src[i]) : product;
}

/* Products of matrices. Element (i, k) of a is a[i * a_row + k * a_column], and likewise for b. */
typedef struct product {
    const mst_kernel_args *args;
    int64_t m, n, k;
    int64_t a_row, a_column, b_row, b_column;
} product;

#define MST_TEMPLATE "op/matrix/multiply.inc"
#include "base/floats.inc"

#define T uint32_t
#define MST_NAME(name) name##_u32
#include "op/matrix/multiply.inc"
#undef T
#undef MST_NAME

#define T uint64_t
#define MST_NAME(name) name##_u64
#include "op/matrix/multiply.inc"
#undef T
#undef MST_NAME

/* The offset in SRC of the matrix for batch BATCH of dst. */
static int64_t matrix_at(const mst_shape *src, const mst_shape *dst, int64_t batch) {
    int64_t at = 0, step = src->dim[src->ndim - 2] * src->dim[src->ndim - 1];
    for (int k = 3; k <= src->ndim; k++) {
        const int64_t index = batch % dst->dim[dst->ndim - k], dim = src->dim[src->ndim - k];
        batch /= dst->dim[dst->ndim - k];
        if (dim != 1) at += index * step;
        step *= dim;
    }
    return at;
}

/* Computes rows BEGIN to END - 1 of dst, numbered over all products of the batch. */
static mst_status matmul_run(void *context, int64_t begin, int64_t end, int thread) {
    const product *p = context;
    const mst_array *a = &p->args->src[0], *b = &p->args->src[1], *dst = &p->args->dst[0];
    (void)thread;
    while (begin < end) {
        const int64_t batch = begin / p->m, first = begin % p->m;
        const int64_t rows = p->m - first < end - begin ? p->m - first : end - begin;
        const int64_t at_a = matrix_at(&a->shape, &dst->shape, batch) + first * p->a_row;
        const int64_t at_b = matrix_at(&b->shape, &dst->shape, batch);
        switch (dst->dtype) {
#define PRODUCT(name, T) \
    name(p, (const T *)a->data + at_a, (const T *)b->data + at_b, (T *)dst->data + begin * p->n, rows)
            case MST_F32: PRODUCT(multiply_f32, float); break;
            case MST_F64: PRODUCT(multiply_f64, double); break;
            case MST_I32: PRODUCT(multiply_u32, uint32_t); break;
            default: PRODUCT(multiply_u64, uint64_t); break;
#undef PRODUCT
        }
        begin += rows;
    }
    return MST_OK;
}

static mst_status matmul_reference(const mst_kernel_args *args) {
    const mst_matmul_options *o = args->options;
    const mst_array *a = &args->src[0], *b = &args->src[1], *dst = &args->dst[0];
    const int64_t columns_a = a->shape.dim[a->shape.ndim - 1], columns_b = b->shape.dim[b->shape.ndim - 1];
    product p = {.args = args,
                 .m = dst->shape.dim[dst->shape.ndim - 2],
                 .n = dst->shape.dim[dst->shape.ndim - 1],
                 .k = a->shape.dim[a->shape.ndim - (o->transpose_a ? 2 : 1)],
                 .a_row = o->transpose_a ? 1 : columns_a,
                 .a_column = o->transpose_a ? columns_a : 1,
                 .b_row = o->transpose_b ? 1 : columns_b,
                 .b_column = o->transpose_b ? columns_b : 1};
    return dst->count ? mst_parallel(args, dst->count / p.n, mst_grain(dst->count / p.n, p.n * p.k), matmul_run, &p)
                      : MST_OK;
}

/* ---- StableHLO ---- */

/* A factor without its batch dimensions of 1, which are broadcast. */
typedef struct factor {
    mst_hlo value;
    mst_axes batch;     /* its batch dimensions that the other factor has too */
    int summed;         /* its dimension over which products are summed */
    mst_axes both, own; /* dimensions of dst: those in `batch`, and those that only this factor has */
} factor;

/* The length, in a source of shape SRC, of batch dimension K of dst. dst has NDIM dimensions. */
static int64_t batch_length(const mst_shape *src, int ndim, int k) {
    const int own = k - (ndim - src->ndim);
    return own < 0 ? 1 : src->dim[own];
}

/* Source I as a factor. STAYS: which of its last two dimensions is not summed: 0 or 1. */
static factor factor_of(mst_lower *l, int i, int stays) {
    const mst_matmul_options *o = l->options;
    const mst_shape *src = &l->src_spec[i].shape, *other = &l->src_spec[1 - i].shape;
    const int ndim = l->dst_spec[0].shape.ndim;
    mst_shape kept = {.ndim = 0};
    factor f = {.summed = 0};
    for (int k = 0; k < ndim - 2; k++) {
        const int64_t length = batch_length(src, ndim, k);
        if (length == 1) continue;
        const bool is_shared = batch_length(other, ndim, k) != 1;
        mst_axes *list = is_shared ? &f.both : &f.own;
        list->axis[list->count++] = k;
        if (is_shared) f.batch.axis[f.batch.count++] = kept.ndim;
        kept.dim[kept.ndim++] = length;
    }
    f.own.axis[f.own.count++] = ndim - 2 + i;
    f.summed = kept.ndim + 1 - stays;
    for (int k = 2; k > 0; k--) kept.dim[kept.ndim++] = src->dim[src->ndim - k];
    f.value = mst_hlo_reshape(l, l->src[i], kept);
    if (o->precision == MST_MIXED_BFLOAT16 && l->src_spec[i].dtype == MST_F32)
        f.value = mst_hlo_convert(l, f.value, MST_BF16);
    return f;
}

/* The product has first the batch dimensions that both factors have, then the other dimensions of a, then of b. */
static void matmul_lower(mst_lower *l) {
    const mst_matmul_options *o = l->options;
    const mst_spec *dst = &l->dst_spec[0];
    if (!mst_shape_count(l->src_spec[0].shape) || !mst_shape_count(l->src_spec[1].shape)) {
        l->dst[0] = mst_hlo_fill(l, dst->dtype, dst->shape, 0);
        return;
    }
    if (o->precision) l->precision = o->precision;
    const factor a = factor_of(l, 0, o->transpose_a), b = factor_of(l, 1, !o->transpose_b);
    const mst_hlo product =
        mst_hlo_dot(l, a.value, b.value, a.batch, b.batch, MST_AXES(a.summed), MST_AXES(b.summed), dst->dtype);
    const mst_axes *const lists[] = {&a.both, &a.own, &b.own};
    int at[MST_MAX_NDIM], next = 0; /* for each dimension of dst: the product's dimension; -1: none, the length is 1 */
    for (int k = 0; k < MST_MAX_NDIM; k++) at[k] = -1;
    for (int list = 0; list < 3; list++)
        for (int k = 0; k < lists[list]->count; k++) at[lists[list]->axis[k]] = next++;
    mst_axes order = {.count = 0};
    bool is_in_order = true;
    for (int k = 0; k < dst->shape.ndim; k++) {
        if (at[k] < 0) continue;
        is_in_order = is_in_order && at[k] == order.count;
        order.axis[order.count++] = at[k];
    }
    l->dst[0] = mst_hlo_reshape(l, is_in_order ? product : mst_hlo_transpose(l, product, order), dst->shape);
}

#define TWO_BY_THREE                                          \
    {                                                         \
        .ndim = 2, .dim = {2, 3}, .value = (const double[]) { \
            1, 2, 3, 4, 5, 6                                  \
        }                                                     \
    }
#define THREE_BY_TWO                                          \
    {                                                         \
        .ndim = 2, .dim = {3, 2}, .value = (const double[]) { \
            1, 2, 3, 4, 5, 6                                  \
        }                                                     \
    }

static const mst_example matmul_examples[] = {
    {.name = "matrices",
     .num_src = 2,
     .src = {TWO_BY_THREE, THREE_BY_TWO},
     .expect = {(const double[]){22, 28, 49, 64}}},
    {.name = "one long row",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {1, 259}, .no_grad = true}, {.ndim = 2, .dim = {259, 257}, .no_grad = true}}},
    {.name = "one long row, b swapped",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {1, 259}, .no_grad = true}, {.ndim = 2, .dim = {257, 259}, .no_grad = true}},
     .options = &(const mst_matmul_options){.transpose_b = true}},
    {.name = "a swapped",
     .num_src = 2,
     .src = {THREE_BY_TWO, THREE_BY_TWO},
     .options = &(const mst_matmul_options){.transpose_a = true},
     .expect = {(const double[]){35, 44, 44, 56}}},
    {.name = "b swapped",
     .num_src = 2,
     .src = {TWO_BY_THREE, TWO_BY_THREE},
     .options = &(const mst_matmul_options){.transpose_b = true},
     .expect = {(const double[]){14, 32, 32, 77}}},
    {.name = "both swapped",
     .num_src = 2,
     .src = {THREE_BY_TWO, TWO_BY_THREE},
     .options = &(const mst_matmul_options){.transpose_a = true, .transpose_b = true},
     .expect = {(const double[]){22, 49, 28, 64}}},
    {.name = "batch",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 1, 2}, .value = (const double[]){1, 2, 3, 4}},
             {.ndim = 3, .dim = {2, 2, 1}, .value = (const double[]){5, 6, 7, 8}}},
     .expect = {(const double[]){17, 53}}},
    {.name = "batch, one factor for all",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 1, 2}, .value = (const double[]){1, 2, 3, 4}},
             {.ndim = 2, .dim = {2, 1}, .value = (const double[]){5, 6}}},
     .expect = {(const double[]){17, 39}}},
    {.name = "batches broadcast, both swapped",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {2, 1, 3, 2}}, {.ndim = 3, .dim = {3, 4, 3}}},
     .options = &(const mst_matmul_options){.transpose_a = true, .transpose_b = true}},
    {.name = "batches broadcast, a swapped",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 3, 2}}, {.ndim = 3, .dim = {1, 3, 4}}},
     .options = &(const mst_matmul_options){.transpose_a = true}},
    {.name = "batches broadcast, b swapped",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 3, .dim = {3, 4, 3}}},
     .options = &(const mst_matmul_options){.transpose_b = true}},
    {.name = "batches of which each factor has some", /* in the product, batch dimensions of b follow the rows of a */
     .num_src = 2,
     .src = {{.ndim = 5, .dim = {2, 1, 3, 2, 4}}, {.ndim = 5, .dim = {2, 2, 1, 4, 3}}}},
    {.name = "batches of the second factor alone, a swapped",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {1, 3, 2}}, {.ndim = 4, .dim = {2, 3, 3, 4}}},
     .options = &(const mst_matmul_options){.transpose_a = true}},
    {.name = "whole numbers in bf16",
     .num_src = 2,
     .src = {TWO_BY_THREE, THREE_BY_TWO},
     .options = &(const mst_matmul_options){.precision = MST_MIXED_BFLOAT16},
     .expect = {(const double[]){22, 28, 49, 64}}},
    {.name = "one by one", .num_src = 2, .src = {{.ndim = 2, .dim = {1, 1}}, {.ndim = 2, .dim = {1, 1}}}},
    {.name = "nothing to sum",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 0}}, {.ndim = 2, .dim = {0, 1}}},
     .expect = {(const double[]){0, 0}}},
    {.name = "no rows", .num_src = 2, .src = {{.ndim = 2, .dim = {0, 3}}, {.ndim = 2, .dim = {3, 2}}}},
    {.name = "no batch", .num_src = 2, .src = {{.ndim = 3, .dim = {0, 2, 3}}, {.ndim = 3, .dim = {1, 3, 2}}}},
    {.name = "inner dimensions differ", .num_src = 2, .src = {TWO_BY_THREE, TWO_BY_THREE}, .fails = MST_INVALID},
    {.name = "inner dimensions differ, both swapped",
     .num_src = 2,
     .src = {TWO_BY_THREE, TWO_BY_THREE},
     .options = &(const mst_matmul_options){.transpose_a = true, .transpose_b = true},
     .fails = MST_INVALID},
    {.name = "batches do not broadcast",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 1, 1}}, {.ndim = 3, .dim = {3, 1, 1}}},
     .fails = MST_INVALID},
    {.name = "vector",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {2}}, {.ndim = 2, .dim = {2, 2}}},
     .fails = MST_INVALID},
    {.name = "dtypes differ",
     .num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 2, .dim = {1, 1}}, {.dtype = MST_F64, .ndim = 2, .dim = {1, 1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_matmul = {
    .name = "matmul",
    .tf_form =
        "MatMul($0, $1; transpose_a=transpose_a transpose_b=transpose_b) if rank0==2 rank1==2\n"
        "BatchMatMulV2($0, $1; adj_x=transpose_a adj_y=transpose_b)\n"
        "<BatchMatMul($0, $1; adj_x=transpose_a adj_y=transpose_b)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS | MST_INDICES,
    .fields = matmul_fields,
    .options_size = sizeof(mst_matmul_options),
    .infer = matmul_infer,
    .grad = matmul_grad,
    .reference = matmul_reference,
    .lower = matmul_lower,
    MST_EXAMPLES(matmul_examples),
};

mst_value mst_matmul_with(mst_matmul_options options) {
    return mst_call(NULL, &mst_op_matmul, 2, (mst_value[]){options.a, options.b}, &options);
}
