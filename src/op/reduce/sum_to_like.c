/** sum_to_like: src summed over the dimensions along which like would be repeated to broadcast it to src's shape
 *
 *  src   f32, f64, i32, i64 or u8, any shape to which like's shape broadcasts
 *  like  any dtype; only its shape is used
 *  dst   src's dtype, like's shape; may alias src if no dimension is summed
 *
 *  The transpose of broadcast_like, and its gradient: dst = reduce_sum over the leading dimensions that like does not
 *  have and over those that are 1 in like. */
#ifdef MST_OP_HEADER
MST_API mst_value mst_sum_to_like(mst_value src, mst_value like);
#endif
#include "op/op.h"
#include "op/reduce/reduce.h"
#include "op/shape/strided.h"

static mst_status sum_to_like_infer(mst_infer *c) {
    MST_TRY(mst_infer_want_listed(c, 0));
    const mst_shape *src = &c->src[0].shape, *like = &c->src[1].shape;
    const int lead = src->ndim - like->ndim;
    if (lead < 0) return mst_infer_fail(c, "a shape of %d dimensions does not broadcast to %d", like->ndim, src->ndim);
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = *like};
    for (int k = 0; k < like->ndim; k++) {
        int64_t large = src->dim[lead + k], small = like->dim[k];
        if (large >= 0 && small >= 0 && small != 1 && large != small)
            return mst_infer_fail(c, "dimension %lld does not broadcast to %lld", (long long)small, (long long)large);
        if (small < 0 && large == 1) c->dst[0].shape.dim[k] = 1;
    }
    return MST_OK;
}

static mst_value sum_to_like_grad(mst_grad *c, int i) {
    return i == 0 ? mst_broadcast_like(c->ddst[0], c->src[0]) : MST_NONE;
}

static void sum_to_like_lower(mst_lower *l) {
    const mst_shape src = l->src_spec[0].shape, like = l->dst_spec[0].shape;
    const int lead = src.ndim - like.ndim;
    mst_axes axes = {.count = 0};
    for (int k = 0; k < src.ndim; k++)
        if (k < lead || (like.dim[k - lead] == 1 && src.dim[k] != 1)) axes.axis[axes.count++] = k;
    l->dst[0] = mst_hlo_reshape(l, mst_hlo_reduce(l, "add", l->src[0], 0, axes), like);
}

mst_value mst_unbroadcast(mst_value gradient, mst_value like) {
    mst_shape have = mst_value_spec(gradient).shape, want = mst_value_spec(like).shape;
    bool done = !mst_value_is_none(gradient) && !mst_value_is_none(like) && mst_shape_count(have) >= 0 &&
                mst_shape_equal(have, want);
    return done ? gradient : mst_sum_to_like(gradient, like);
}

/* The reduction from shape SRC to shape LIKE. */
static mst_reduce_loops reduction_to(mst_shape src, mst_shape like) {
    const int lead = src.ndim - like.ndim;
    bool reduced[MST_MAX_NDIM];
    for (int k = 0; k < src.ndim; k++) reduced[k] = k < lead || (like.dim[k - lead] == 1 && src.dim[k] != 1);
    return mst_reduce_loops_make(src.ndim, src.dim, reduced);
}

static size_t sum_to_like_workspace(const mst_infer *c, int num_threads) {
    (void)num_threads;
    const mst_reduce_loops r = reduction_to(c->src[0].shape, c->dst[0].shape);
    return mst_reduce_loops_workspace(&r, c->src[0].dtype);
}

static mst_status sum_to_like_reference(const mst_kernel_args *a) {
    const mst_array *src = &a->src[0], *dst = &a->dst[0];
    if (src->count == dst->count) /* nothing to sum; dst may alias src */
        return mst_copy(a, dst->data, src->data, (size_t)src->count * mst_dtype_size(src->dtype));
    const mst_reduce_loops r = reduction_to(src->shape, dst->shape);
    return mst_reduce_sums(a, &r);
}

static const mst_example sum_to_like_examples[] = {
    {.name = "leading dimension",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}},
             {.dtype = MST_F32, .ndim = 1, .dim = {3}, .no_grad = true}},
     .expect = {(const double[]){5, 7, 9}}},
    {.name = "dimension of 1",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}},
             {.ndim = 2, .dim = {2, 1}, .no_grad = true}},
     .expect = {(const double[]){6, 15}}},
    {.name = "to scalar",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}}, {.ndim = 0, .no_grad = true}},
     .expect = {(const double[]){21}}},
    {.name = "same shape",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 1}, .value = (const double[]){1, 2}}, {.ndim = 2, .dim = {2, 1}, .no_grad = true}},
     .expect = {(const double[]){1, 2}}},
    {.name = "outer and inner",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 3, 4}}, {.ndim = 3, .dim = {1, 3, 1}, .no_grad = true}}},
    {.name = "of nothing",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {0, 2}}, {.ndim = 1, .dim = {2}, .no_grad = true}},
     .expect = {(const double[]){0, 0}}},
    {.name = "empty", .num_src = 2, .src = {{.ndim = 2, .dim = {2, 0}}, {.ndim = 1, .dim = {0}, .no_grad = true}}},
    {.name = "does not broadcast",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
    {.name = "more dimensions",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {3}}, {.ndim = 2, .dim = {1, 3}}},
     .fails = MST_INVALID},
};

static bool sum_to_like_is_identity(const mst_infer *c) {
    return mst_shape_equal(c->src[0].shape, c->dst[0].shape);
}

const mst_op mst_op_sum_to_like = {
    .name = "sum_to_like",
    .tf_form =
        ">Reshape(Sum($0, BroadcastGradientArgs(Shape($1; out_type=i32), Shape($0; "
        "out_type=i32)); Tidx=i32 keep_dims=false), Shape($1; out_type=i32); Tshape=i32)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_INFALLIBLE,
    .shape_only = 1u << 1,
    .may_alias = true,
    .infer = sum_to_like_infer,
    .grad = sum_to_like_grad,
    .is_identity = sum_to_like_is_identity,
    .workspace = sum_to_like_workspace,
    .reference = sum_to_like_reference,
    .lower = sum_to_like_lower,
    MST_EXAMPLES(sum_to_like_examples),
};

mst_value mst_sum_to_like(mst_value src, mst_value like) {
    return mst_call(NULL, &mst_op_sum_to_like, 2, (mst_value[]){src, like}, NULL);
}
