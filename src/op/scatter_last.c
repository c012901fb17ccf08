/** scatter_last: dst[..., m] = sum of src[..., j] over all j where indices[..., j] = m
 *
 *  src      f32, f64, i32, i64 or u8, [..., k]
 *  indices  i32 or i64, like src
 *  like     any dtype, [..., n]; only its shape is used
 *  dst      src's dtype, like's shape; 0 where no index points
 *
 *  The gradient of gather_last and of top_k. Values of one place are added in the order of j; integers wrap around. An
 *  index that is not within 0 to n - 1 is an error.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_scatter_last(mst_value src, mst_value indices, mst_value like);
#endif
#include <string.h>

#include "op/last.h"
#include "op/op.h"

static mst_status infer(mst_infer *c) {
    mst_shape shape;
    MST_TRY(mst_infer_same_shape(c, 0, 1, &shape));
    MST_TRY(mst_last_infer(c, 2, 1));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = c->src[2].shape};
    return MST_OK;
}

static mst_value grad(mst_grad *c, int i) {
    return i == 0 ? mst_gather_last(c->ddst[0], c->src[1]) : MST_NONE;
}

static void add(mst_dtype dtype, const void *src, int64_t from, void *dst, int64_t to) {
    switch (dtype) {
        case MST_F32: ((float *)dst)[to] += ((const float *)src)[from]; break;
        case MST_F64: ((double *)dst)[to] += ((const double *)src)[from]; break;
        case MST_I32: ((uint32_t *)dst)[to] += ((const uint32_t *)src)[from]; break;
        case MST_I64: ((uint64_t *)dst)[to] += ((const uint64_t *)src)[from]; break;
        default: ((uint8_t *)dst)[to] = (uint8_t)(((uint8_t *)dst)[to] + ((const uint8_t *)src)[from]); break;
    }
}

static mst_status reference(const mst_kernel_args *a) {
    const mst_array *src = &a->src[0], *dst = &a->dst[0];
    const int64_t n = dst->shape.dim[dst->shape.ndim - 1], k = src->shape.dim[src->shape.ndim - 1];
    if (dst->count) memset(dst->data, 0, (size_t)dst->count * mst_dtype_size(dst->dtype));
    for (int64_t i = 0; i < src->count; i++) {
        int64_t index;
        MST_TRY(mst_last_index(a, &a->src[1], i, n, &index));
        add(src->dtype, src->data, i, dst->data, i / k * n + index);
    }
    return MST_OK;
}

static const mst_example examples[] = {
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
    .infer = infer,
    .grad = grad,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_scatter_last(mst_value src, mst_value indices, mst_value like) {
    return mst_call(NULL, &mst_op_scatter_last, 3, (const mst_value[]){src, indices, like}, NULL);
}
