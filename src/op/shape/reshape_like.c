/** reshape_like: the elements of src, in row-major order, with the shape of like
 *
 *  src   any shape and dtype
 *  like  any dtype, as many elements as src; only its shape is used
 *  dst   src's dtype, like's shape; the same memory as src
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_reshape_like(mst_value src, mst_value like);
#endif
#include "op/op.h"
#include "op/shape/strided.h"

static mst_status reshape_like_infer(mst_infer *c) {
    int64_t have = mst_shape_count(c->src[0].shape), want = mst_shape_count(c->src[1].shape);
    if (have >= 0 && want >= 0 && have != want)
        return mst_infer_fail(c, "%lld elements do not fit a shape of %lld", (long long)have, (long long)want);
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = c->src[1].shape};
    return MST_OK;
}

static mst_value reshape_like_grad(mst_grad *c, int i) {
    return i == 0 ? mst_reshape_like(c->ddst[0], c->src[0]) : MST_NONE;
}

static const mst_example reshape_like_examples[] = {
    {.name = "matrix",
     .num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {6}, .value = (const double[]){1, 2, 3, 4, 5, 6}},
             {.dtype = MST_I32, .ndim = 2, .dim = {3, 2}}},
     .expect = {(const double[]){1, 2, 3, 4, 5, 6}}},
    {.name = "all dtypes",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {1, 2, 3}}, {.ndim = 2, .dim = {6, 1}, .no_grad = true}}},
    {.name = "to scalar", .num_src = 2, .src = {{.ndim = 1, .dim = {1}}, {.ndim = 0, .no_grad = true}}},
    {.name = "empty", .num_src = 2, .src = {{.ndim = 1, .dim = {0}}, {.ndim = 2, .dim = {3, 0}, .no_grad = true}}},
    {.name = "does not fit",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {6}}, {.ndim = 1, .dim = {5}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_reshape_like = {
    .name = "reshape_like",
    .tf_form = ">Reshape($0, Shape($1; out_type=i32); Tshape=i32)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_VIEW,
    .shape_only = 1u << 1,
    .infer = reshape_like_infer,
    .grad = reshape_like_grad,
    .reference = mst_view_copy,
    .lower = mst_view_lower,
    MST_EXAMPLES(reshape_like_examples),
};

mst_value mst_reshape_like(mst_value src, mst_value like) {
    return mst_call(NULL, &mst_op_reshape_like, 2, (mst_value[]){src, like}, NULL);
}
