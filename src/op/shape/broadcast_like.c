/** broadcast_like: src broadcast to the shape of like: dst[..., i, ...] = src[..., i or 0, ...]
 *
 *  src   any dtype, a shape that broadcasts to like's (NumPy's rules)
 *  like  any dtype; only its shape is used
 *  dst   src's dtype, like's shape; may alias src if nothing is repeated
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_broadcast_like(mst_value src, mst_value like);
#endif
#include "op/broadcast.h"
#include "op/op.h"

static mst_status broadcast_like_infer(mst_infer *c) {
    return mst_broadcast_infer(c, &c->src[1].shape);
}

static mst_value broadcast_like_grad(mst_grad *c, int i) {
    return i == 0 ? mst_unbroadcast(c->ddst[0], c->src[0]) : MST_NONE;
}

static void broadcast_like_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_broadcast(l, l->src[0], l->dst_spec[0].shape);
}

static const mst_example broadcast_like_examples[] = {
    {.name = "rows",
     .num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {3}, .value = (const double[]){1, 2, 3}},
             {.dtype = MST_I32, .ndim = 2, .dim = {2, 3}}},
     .expect = {(const double[]){1, 2, 3, 1, 2, 3}}},
    {.name = "columns",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 1}, .value = (const double[]){1, 0}}, {.ndim = 2, .dim = {2, 2}, .no_grad = true}},
     .expect = {(const double[]){1, 1, 0, 0}}},
    {.name = "scalar",
     .num_src = 2,
     .src = {{.ndim = 0, .value = (const double[]){1}}, {.ndim = 1, .dim = {3}, .no_grad = true}},
     .expect = {(const double[]){1, 1, 1}}},
    {.name = "same shape",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){1, 0}}, {.ndim = 1, .dim = {2}, .no_grad = true}},
     .expect = {(const double[]){1, 0}}},
    {.name = "middle",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 1, 3}}, {.ndim = 3, .dim = {2, 4, 3}, .no_grad = true}}},
    {.name = "to nothing",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {1, 2}}, {.ndim = 2, .dim = {0, 2}, .no_grad = true}}},
    {.name = "does not broadcast",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {4}}},
     .fails = MST_INVALID},
    {.name = "more dimensions",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {1, 2}}, {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
};

static bool broadcast_like_is_identity(const mst_infer *c) {
    return mst_shape_equal(c->src[0].shape, c->dst[0].shape);
}

const mst_op mst_op_broadcast_like = {
    .name = "broadcast_like",
    .tf_form = ">BroadcastTo($0, Shape($1; out_type=i32); Tidx=i32)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_INFALLIBLE,
    .shape_only = 1u << 1,
    .may_alias = true,
    .infer = broadcast_like_infer,
    .grad = broadcast_like_grad,
    .is_identity = broadcast_like_is_identity,
    .reference = mst_broadcast_copy,
    .lower = broadcast_like_lower,
    MST_EXAMPLES(broadcast_like_examples),
};

mst_value mst_broadcast_like(mst_value src, mst_value like) {
    return mst_call(NULL, &mst_op_broadcast_like, 2, (mst_value[]){src, like}, NULL);
}
