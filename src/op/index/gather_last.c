/** gather_last: dst[..., j] = src[..., indices[..., j]]
 *
 *  src      any dtype, [..., n]
 *  indices  i32 or i64, [..., k], with src's leading dimensions
 *  dst      src's dtype, the indices' shape
 *
 *  A run fails if an index is not within 0 to n - 1.
 */
#include "op/index/index_hlo.h"
#include "op/index/row_index.h"
#include "op/op.h"
#include "op/share.h"

static mst_status gather_last_infer(mst_infer *c) {
    MST_TRY(mst_row_index_infer(c, 0, 1));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = c->src[1].shape};
    return MST_OK;
}

static mst_value gather_last_grad(mst_grad *c, int i) {
    return i == 0 ? mst_scatter_last(c->ddst[0], c->src[1], c->src[0]) : MST_NONE;
}

static void gather_last_lower(mst_lower *l) {
    const mst_shape shape = l->dst_spec[0].shape;
    const int64_t n = l->src_spec[0].shape.dim[shape.ndim - 1], k = shape.dim[shape.ndim - 1];
    const mst_hlo numbers = mst_hlo_row_numbers(l, n);
    const int64_t rows = mst_hlo_spec(l, numbers).shape.dim[0];
    if (rows * n == 0) {
        l->dst[0] = mst_hlo_fill(l, l->dst_spec[0].dtype, shape, 0);
        return;
    }
    const mst_dtype dtype = mst_index_dtype(rows * n);
    const mst_hlo row = mst_hlo_iota(l, dtype, MST_SHAPE(rows, k), 0);
    const mst_hlo first = mst_hlo_binary(l, "multiply", row, mst_hlo_integer(l, dtype, n));
    const mst_hlo place = mst_hlo_binary(l, "add", first, mst_hlo_convert(l, numbers, dtype));
    const mst_hlo_indexing indexing = {.collapsed = MST_AXES(0), .map = MST_AXES(0), .vector_axis = 2};
    const mst_hlo flat = mst_hlo_reshape(l, l->src[0], MST_SHAPE(rows * n));
    const mst_hlo found = mst_hlo_gather(l, flat, place, &indexing, MST_SHAPE(1), MST_SHAPE(rows, k));
    l->dst[0] = mst_hlo_reshape(l, found, shape);
}

#define MST_TEMPLATE "op/index/gather_last_rows.inc"
#include "op/sizes.inc"

/* Gathers elements BEGIN to END - 1. */
static mst_status gather(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_array *src = &a->src[0], *indices = &a->src[1];
    const int64_t n = src->shape.dim[src->shape.ndim - 1], k = indices->shape.dim[indices->shape.ndim - 1];
    (void)thread;
    MST_TRY(mst_row_index_check(a, indices, n, begin, end));
    switch (mst_dtype_size(src->dtype)) {
        case 1: rows_1(indices, src->data, a->dst[0].data, n, k, begin, end); break;
        case 2: rows_2(indices, src->data, a->dst[0].data, n, k, begin, end); break;
        case 4: rows_4(indices, src->data, a->dst[0].data, n, k, begin, end); break;
        default: rows_8(indices, src->data, a->dst[0].data, n, k, begin, end); break;
    }
    return MST_OK;
}

static mst_status gather_last_reference(const mst_kernel_args *a) {
    return mst_parallel(a, a->dst[0].count, mst_grain(a->dst[0].count, 2), gather, mst_context_of(a));
}

static const mst_example gather_last_examples[] = {
    {.name = "two rows",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 0, 1, 0, 1, 1}},
             {.dtype = MST_I32, .ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 0, 0, 2}}},
     .expect = {(const double[]){0, 1, 0, 1}}},
    {.name = "again and again",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {3}},
             {.dtype = MST_I64, .ndim = 1, .dim = {5}, .value = (const double[]){2, 2, 0, 2, 0}}}},
    {.name = "out of range",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {3}}, {.dtype = MST_I64, .ndim = 1, .dim = {1}, .value = (const double[]){3}}},
     .fails = MST_INVALID},
    {.name = "other rows",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {3, 3}}, {.dtype = MST_I32, .ndim = 2, .dim = {2, 3}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_gather_last = {
    .name = "gather_last",
    .tf_form = ">GatherV2($0, $1, @last; Tparams=t0 Tindices=t1 Taxis=i32 batch_dims=@last)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_ALL_DTYPES,
    .infer = gather_last_infer,
    .grad = gather_last_grad,
    .reference = gather_last_reference,
    .lower = gather_last_lower,
    MST_EXAMPLES(gather_last_examples),
};

mst_value mst_gather_last(mst_value src, mst_value indices) {
    return mst_call(NULL, &mst_op_gather_last, 2, (const mst_value[]){src, indices}, NULL);
}
