/** slice_grad: dst[begin + i] = gradient[i], all other elements 0
 *
 *  gradient  any shape and dtype: of the output of a slice
 *  like      any dtype, as many dimensions as gradient; only its shape is used
 *  dst       gradient's dtype, like's shape
 *  begin     one number for each dimension, at least 0
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_slice_grad(mst_value gradient, mst_value like, mst_shape begin);
#endif
#include "op/op.h"
#include "op/shape/strided.h"

typedef struct slice_grad_options {
    int zero_;
    mst_shape begin;
} slice_grad_options;

static const mst_field fields[] = {
    MST_FIELD_SHAPE(slice_grad_options, begin, "first element along each dimension"),
    MST_FIELD_END,
};

static mst_status infer(mst_infer *c) {
    MST_TRY(mst_infer_part(c, &((const slice_grad_options *)c->options)->begin, 1, 0));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = c->src[1].shape};
    return MST_OK;
}

static mst_value grad(mst_grad *c, int i) {
    if (i > 0) return MST_NONE;
    return mst_slice_like(c->ddst[0], c->src[0], ((const slice_grad_options *)c->options)->begin);
}

static mst_status reference(const mst_kernel_args *a) {
    const mst_array *dst = &a->dst[0];
    MST_TRY(mst_zero(a, dst->data, (size_t)dst->count * mst_dtype_size(dst->dtype)));
    return mst_slice_copy(a, dst, &((const slice_grad_options *)a->options)->begin, &a->src[0], false);
}

static const mst_example examples[] = {
    {.name = "part",
     .num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 2, .dim = {1, 2}, .value = (const double[]){4, 5}},
             {.dtype = MST_I32, .ndim = 2, .dim = {2, 3}}},
     .options = &(const slice_grad_options){.begin = {.ndim = 2, .dim = {1, 0}}},
     .expect = {(const double[]){0, 0, 0, 4, 5, 0}}},
    {.name = "all dtypes",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 2}}, {.ndim = 2, .dim = {3, 4}, .no_grad = true}},
     .options = &(const slice_grad_options){.begin = {.ndim = 2, .dim = {1, 1}}}},
    {.name = "scalar", .num_src = 2, .src = {{.ndim = 0}, {.ndim = 0, .no_grad = true}}},
    {.name = "nothing",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {0}}, {.ndim = 1, .dim = {2}, .no_grad = true}},
     .options = &(const slice_grad_options){.begin = {.ndim = 1, .dim = {2}}},
     .expect = {(const double[]){0, 0}}},
    {.name = "past the end",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {3}}},
     .options = &(const slice_grad_options){.begin = {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_slice_grad = {
    .name = "slice_grad",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_ALL_DTYPES,
    .shape_only = 1u << 1,
    .fields = fields,
    .options_size = sizeof(slice_grad_options),
    .infer = infer,
    .grad = grad,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_slice_grad(mst_value gradient, mst_value like, mst_shape begin) {
    return mst_call(NULL, &mst_op_slice_grad, 2, (mst_value[]){gradient, like}, &(slice_grad_options){.begin = begin});
}
