/** scatter_last: dst[..., m] = sum of src[..., j] over all j where indices[..., j] = m
 *
 *  src      f32, f64, i32, i64 or u8, [..., k]
 *  indices  i32 or i64, like src
 *  like     any dtype, [..., n]; only its shape is used
 *  dst      src's dtype, like's shape; 0 where no index points to
 *
 *  It is the gradient of gather_last and of top_k. Elements with the same index are added in the order of j; integers
 *  wrap around. A run fails if an index is not within 0 to n - 1.
 */
#include <string.h>

#include "op/index/index_hlo.h"
#include "op/index/row_index.h"
#include "op/op.h"
#include "op/share.h"

static mst_status scatter_last_infer(mst_infer *c) {
    mst_shape shape;
    MST_TRY(mst_infer_same_shape(c, 0, 1, &shape));
    MST_TRY(mst_row_index_infer(c, 2, 1));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = c->src[2].shape};
    return MST_OK;
}

static mst_value scatter_last_grad(mst_grad *c, int i) {
    return i == 0 ? mst_gather_last(c->ddst[0], c->src[1]) : MST_NONE;
}

static void scatter_last_lower(mst_lower *l) {
    const mst_shape shape = l->dst_spec[0].shape;
    const int64_t n = shape.dim[shape.ndim - 1];
    const mst_hlo numbers = mst_hlo_row_numbers(l, n);
    const mst_shape given = mst_hlo_spec(l, numbers).shape;
    const mst_hlo rows = mst_hlo_reshape(l, l->src[0], MST_SHAPE(given.dim[0], given.dim[1], 1));
    l->dst[0] = mst_hlo_reshape(l, mst_hlo_sum_by_number(l, numbers, rows, n), shape);
}

#define MST_TEMPLATE "op/index/scatter_last_rows.inc"
#include "op/numbers.inc"

/* Computes rows BEGIN to END - 1. */
static mst_status scatter(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_array *src = &a->src[0], *indices = &a->src[1], *dst = &a->dst[0];
    const int64_t n = dst->shape.dim[dst->shape.ndim - 1], k = src->shape.dim[src->shape.ndim - 1];
    const size_t row = (size_t)n * mst_dtype_size(dst->dtype);
    (void)thread;
    MST_TRY(mst_row_index_check(a, indices, n, begin * k, end * k));
    if (row) memset((char *)dst->data + (size_t)begin * row, 0, (size_t)(end - begin) * row);
    switch (src->dtype) {
        case MST_F32: rows_f32(indices, src->data, dst->data, n, k, begin, end); break;
        case MST_F64: rows_f64(indices, src->data, dst->data, n, k, begin, end); break;
        case MST_I32: rows_i32(indices, src->data, dst->data, n, k, begin, end); break;
        case MST_I64: rows_i64(indices, src->data, dst->data, n, k, begin, end); break;
        default: rows_u8(indices, src->data, dst->data, n, k, begin, end); break;
    }
    return MST_OK;
}

static mst_status scatter_last_reference(const mst_kernel_args *a) {
    const mst_shape *shape = &a->dst[0].shape;
    const int64_t n = shape->dim[shape->ndim - 1], k = a->src[0].shape.dim[shape->ndim - 1];
    int64_t rows = 1;
    for (int i = 0; i < shape->ndim - 1; i++) rows *= shape->dim[i];
    return mst_parallel(a, rows, mst_grain(rows, n + 4 * k), scatter, mst_context_of(a));
}

static const mst_example scatter_last_examples[] = {
    {.name = "two rows",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 2, 3, 4}},
             {.dtype = MST_I32, .ndim = 2, .dim = {2, 2}, .value = (const double[]){2, 0, 1, 1}},
             {.dtype = MST_F32, .ndim = 2, .dim = {2, 3}}},
     .expect = {(const double[]){2, 0, 1, 0, 7, 0}}},
    {.name = "again and again",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {5}},
             {.dtype = MST_I64, .ndim = 1, .dim = {5}, .value = (const double[]){2, 2, 0, 2, 0}},
             {.dtype = MST_U8, .ndim = 1, .dim = {3}}}},
    {.name = "long rows",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {3, 23}},
             {.dtype = MST_I32, .ndim = 2, .dim = {3, 23}, .low = 0, .high = 6},
             {.dtype = MST_F32, .ndim = 2, .dim = {3, 7}}}},
    {.name = "out of range",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {1}},
             {.dtype = MST_I32, .ndim = 1, .dim = {1}, .value = (const double[]){-1}},
             {.dtype = MST_F32, .ndim = 1, .dim = {3}}},
     .fails = MST_INVALID},
    {.name = "other rows",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 1}},
             {.dtype = MST_I32, .ndim = 2, .dim = {2, 1}},
             {.dtype = MST_F32, .ndim = 2, .dim = {3, 3}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_scatter_last = {
    .name = "scatter_last",
    .num_src = 3,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .shape_only = 1u << 2,
    .infer = scatter_last_infer,
    .grad = scatter_last_grad,
    .reference = scatter_last_reference,
    .lower = scatter_last_lower,
    MST_EXAMPLES(scatter_last_examples),
};

mst_value mst_scatter_last(mst_value src, mst_value indices, mst_value like) {
    return mst_call(NULL, &mst_op_scatter_last, 3, (const mst_value[]){src, indices, like}, NULL);
}
