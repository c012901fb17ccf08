/** expand_dims: src with a dimension of 1 inserted before axis
 *
 *  src   any shape and dtype
 *  dst   one dimension more; the same memory as src
 *  axis  of dst, from -ndim - 1 to ndim of src; -1 puts it last
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_expand_dims(mst_value src, int axis);
#endif
#include "op/op.h"
#include "op/shape/strided.h"

typedef struct expand_dims_options {
    int zero_;
    int axis;
} expand_dims_options;

static const mst_field expand_dims_fields[] = {
    MST_FIELD_I32(expand_dims_options, axis, 0, 0, 0, "of dst that is new"),
    MST_FIELD_END,
};

static mst_status expand_dims_infer(mst_infer *c) {
    const mst_shape *src = &c->src[0].shape;
    int axis;
    if (src->ndim == MST_MAX_NDIM)
        return mst_infer_fail(c, "the source has %d dimensions, the most possible", src->ndim);
    MST_TRY(mst_infer_axis(c, ((const expand_dims_options *)c->options)->axis, src->ndim + 1, &axis));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = {.ndim = src->ndim + 1}};
    for (int k = 0; k <= src->ndim; k++) c->dst[0].shape.dim[k] = k == axis ? 1 : src->dim[k < axis ? k : k - 1];
    return MST_OK;
}

static mst_value expand_dims_grad(mst_grad *c, int i) {
    (void)i;
    return mst_reshape_like(c->ddst[0], c->src[0]);
}

static const mst_example expand_dims_examples[] = {
    {.name = "first",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){1, 0}}},
     .expect = {(const double[]){1, 0}}},
    {.name = "last",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}}},
     .options = &(const expand_dims_options){.axis = -1}},
    {.name = "scalar", .num_src = 1, .src = {{.ndim = 0}}},
    {.name = "empty",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 0}}},
     .options = &(const expand_dims_options){.axis = 1}},
    {.name = "axis out of range",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}}},
     .options = &(const expand_dims_options){.axis = 2},
     .fails = MST_INVALID},
    {.name = "too many dimensions",
     .num_src = 1,
     .src = {{.ndim = 8, .dim = {1, 1, 1, 1, 1, 1, 1, 1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_expand_dims = {
    .name = "expand_dims",
    .tf_form = "ExpandDims($0, axis; Tdim=i32)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_VIEW,
    .fields = expand_dims_fields,
    .options_size = sizeof(expand_dims_options),
    .infer = expand_dims_infer,
    .grad = expand_dims_grad,
    .reference = mst_view_copy,
    .lower = mst_view_lower,
    MST_EXAMPLES(expand_dims_examples),
};

mst_value mst_expand_dims(mst_value src, int axis) {
    return mst_call(NULL, &mst_op_expand_dims, 1, &src, &(expand_dims_options){.axis = axis});
}
