/** strided_slice_grad: dst = zeros, but for the elements that a strided slice of it would take, which are gradient's
 *
 *  gradient  any shape and dtype: of the output of a strided_slice
 *  like      any dtype: what was sliced; only its shape is used
 *  dst       gradient's dtype, like's shape
 *  slice     the options of that strided_slice
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_strided_slice_grad(mst_value gradient, mst_value like, const mst_strided_slice_options *slice);
#endif
#include "op/op.h"
#include "op/shape/strided.h"
#include "op/shape/strided_slice.h"

static mst_status infer(mst_infer *c) {
    mst_shape part;
    MST_TRY(mst_strided_slice_infer(c, &c->src[1].shape, &part));
    const mst_shape *have = &c->src[0].shape;
    bool fits = have->ndim == part.ndim;
    for (int k = 0; k < part.ndim && fits; k++)
        fits = have->dim[k] < 0 || part.dim[k] < 0 || have->dim[k] == part.dim[k];
    char text[MST_SHAPE_TEXT];
    if (!fits) return mst_infer_fail(c, "the slice has shape %s", mst_shape_print(part, text, sizeof text));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = c->src[1].shape};
    return MST_OK;
}

static mst_value grad(mst_grad *c, int i) {
    if (i > 0) return MST_NONE;
    mst_strided_slice_options o = *(const mst_strided_slice_options *)c->options;
    o.src = c->ddst[0];
    return mst_strided_slice_with(o);
}

static mst_status reference(const mst_kernel_args *a) {
    const mst_array *dst = &a->dst[0];
    MST_TRY(mst_zero(a, dst->data, (size_t)dst->count * mst_dtype_size(dst->dtype)));
    return mst_strided_slice_copy(a, dst, &a->src[0], false);
}

static const mst_example examples[] = {
    {.name = "every other",
     .num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}, .value = (const double[]){2, 4}},
             {.dtype = MST_I32, .ndim = 1, .dim = {5}}},
     .options = &(const mst_strided_slice_options){.begin = {.count = 1, .axis = {1}},
                                                   .end = {.count = 1, .axis = {5}},
                                                   .strides = {.count = 1, .axis = {2}}},
     .expect = {(const double[]){0, 2, 0, 4, 0}}},
    {.name = "reversed",
     .num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}, .value = (const double[]){1, 2}},
             {.dtype = MST_F32, .ndim = 1, .dim = {2}, .no_grad = true}},
     .options = &(const mst_strided_slice_options){.strides = {.count = 1, .axis = {-1}}},
     .expect = {(const double[]){2, 1}}},
    {.name = "all dtypes",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 3, .dim = {4, 3, 5}, .no_grad = true}},
     .options = &(const mst_strided_slice_options){.begin = {.count = 3, .axis = {0, 1, -1}},
                                                   .end = {.count = 3, .axis = {4, 0, 0}},
                                                   .strides = {.count = 3, .axis = {3, 1, -2}},
                                                   .end_mask = 4,
                                                   .shrink_mask = 2}},
    {.name = "scalar", .num_src = 2, .src = {{.ndim = 0}, {.ndim = 0, .no_grad = true}}},
    {.name = "nothing",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {0}}, {.ndim = 1, .dim = {2}, .no_grad = true}},
     .options =
         &(const mst_strided_slice_options){.begin = {.count = 1, .axis = {2}}, .end = {.count = 1, .axis = {1}}},
     .expect = {(const double[]){0, 0}}},
    {.name = "not the slice's shape",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {3}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_strided_slice_grad = {
    .name = "strided_slice_grad",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_ALL_DTYPES,
    .shape_only = 1u << 1,
    .fields = mst_strided_slice_fields,
    .options_size = sizeof(mst_strided_slice_options),
    .infer = infer,
    .grad = grad,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_strided_slice_grad(mst_value gradient, mst_value like, const mst_strided_slice_options *slice) {
    return mst_call(NULL, &mst_op_strided_slice_grad, 2, (mst_value[]){gradient, like}, slice);
}
