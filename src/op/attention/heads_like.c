/** heads_like: src reshaped so that it has as many heads as like; the rows are divided among these heads
 *
 *  src   f32 or f64, [n, heads, rows, ...]
 *  like  any dtype, [n, heads of like, ...]; only its shape is used
 *  dst   src's dtype, [n, heads of like, heads rows / heads of like, ...]; the same memory as src
 */
#include "op/attention/attention.h"
#include "op/list.h"
#include "op/op.h"
#include "op/shape/strided.h"

static mst_status heads_like_infer(mst_infer *c) {
    const mst_shape *src = &c->src[0].shape, *like = &c->src[1].shape;
    MST_TRY(mst_infer_want_float(c, 0));
    if (src->ndim < 3 || like->ndim < 2) return mst_infer_fail(c, "the sources must be [n, heads, rows, ...]");
    const int64_t heads = like->dim[1], rows = src->dim[1] < 0 || src->dim[2] < 0 ? -1 : src->dim[1] * src->dim[2];
    if (rows > 0 && heads >= 0 && (heads == 0 || rows % heads))
        return mst_infer_fail(c, "%lld rows do not divide into %lld heads", (long long)rows, (long long)heads);
    c->dst[0] = c->src[0];
    c->dst[0].shape.dim[1] = heads;
    c->dst[0].shape.dim[2] = rows < 0 || heads < 0 ? -1 : heads ? rows / heads : 0;
    return MST_OK;
}

static mst_value heads_like_grad(mst_grad *c, int i) {
    return i == 0 ? mst_attention_heads_like(c->ddst[0], c->src[0]) : MST_NONE;
}

static const mst_example heads_like_examples[] = {
    {.name = "two heads become one",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 2, 2, 1}, .value = (const double[]){1, 2, 3, 4}},
             {.dtype = MST_BOOL, .ndim = 2, .dim = {1, 1}}},
     .expect = {(const double[]){1, 2, 3, 4}}},
    {.name = "one becomes three",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 1, 6}}, {.dtype = MST_F32, .ndim = 3, .dim = {2, 3, 4}, .no_grad = true}}},
    {.name = "rows that do not divide",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 1, 5}}, {.dtype = MST_F32, .ndim = 3, .dim = {2, 3, 4}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_heads_like = {
    .name = "heads_like",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_VIEW,
    .shape_only = 1u << 1,
    .infer = heads_like_infer,
    .grad = heads_like_grad,
    .reference = mst_view_copy,
    .lower = mst_view_lower,
    MST_EXAMPLES(heads_like_examples),
};

mst_value mst_attention_heads_like(mst_value x, mst_value like) {
    const mst_shape have = mst_value_spec(x).shape, want = mst_value_spec(like).shape;
    if (mst_value_is_none(x)) return x;
    if (have.ndim > 1 && want.ndim > 1 && have.dim[1] >= 0 && have.dim[1] == want.dim[1]) return x;
    return mst_call(NULL, &mst_op_heads_like, 2, (const mst_value[]){x, like}, NULL);
}
