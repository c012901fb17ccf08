/** slice_like: dst[i] = src[begin + i] for each index i into the shape of like
 *
 *  src    any shape and dtype
 *  like   any dtype, as many dimensions as src; only its shape is used
 *  dst    src's dtype, like's shape
 *  begin  index into src of the first element of dst: one number >= 0 for each dimension
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_slice_like(mst_value src, mst_value like, mst_shape begin);
#endif
#include "op/op.h"
#include "op/shape/strided.h"

static const mst_field slice_like_fields[] = {
    MST_FIELD_SHAPE(mst_slice_like_options, begin, "first element along each dimension"),
    MST_FIELD_END,
};

static mst_status slice_like_infer(mst_infer *c) {
    MST_TRY(mst_infer_part(c, &((const mst_slice_like_options *)c->options)->begin, 0, 1));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = c->src[1].shape};
    return MST_OK;
}

static mst_value slice_like_grad(mst_grad *c, int i) {
    if (i > 0) return MST_NONE;
    return mst_slice_grad(c->ddst[0], c->src[0], ((const mst_slice_like_options *)c->options)->begin);
}

static void slice_like_lower(mst_lower *l) {
    mst_slice_lower(l, &((const mst_slice_like_options *)l->options)->begin);
}

static mst_status slice_like_reference(const mst_kernel_args *a) {
    return mst_slice_copy(a, &a->src[0], &((const mst_slice_like_options *)a->options)->begin, &a->dst[0], true);
}

static const mst_example slice_like_examples[] = {
    {.name = "part",
     .num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}},
             {.dtype = MST_I32, .ndim = 2, .dim = {1, 2}}},
     .options = &(const mst_slice_like_options){.begin = {.ndim = 2, .dim = {1, 0}}},
     .expect = {(const double[]){4, 5}}},
    {.name = "all dtypes",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {3, 4}}, {.ndim = 2, .dim = {2, 2}, .no_grad = true}},
     .options = &(const mst_slice_like_options){.begin = {.ndim = 2, .dim = {1, 1}}}},
    {.name = "scalar", .num_src = 2, .src = {{.ndim = 0}, {.ndim = 0, .no_grad = true}}},
    {.name = "nothing",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {3}}, {.ndim = 1, .dim = {0}, .no_grad = true}},
     .options = &(const mst_slice_like_options){.begin = {.ndim = 1, .dim = {3}}}},
    {.name = "past the end",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {3}}, {.ndim = 1, .dim = {2}}},
     .options = &(const mst_slice_like_options){.begin = {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_slice_like = {
    .name = "slice_like",
    .tf_form = ">Slice($0, begin:i32, Shape($1; out_type=i32); Index=i32)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .shape_only = 1u << 1,
    .fields = slice_like_fields,
    .options_size = sizeof(mst_slice_like_options),
    .infer = slice_like_infer,
    .grad = slice_like_grad,
    .reference = slice_like_reference,
    .lower = slice_like_lower,
    MST_EXAMPLES(slice_like_examples),
};

mst_value mst_slice_like(mst_value src, mst_value like, mst_shape begin) {
    return mst_call(NULL, &mst_op_slice_like, 2, (mst_value[]){src, like}, &(mst_slice_like_options){.begin = begin});
}
