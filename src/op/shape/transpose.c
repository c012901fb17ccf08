/** transpose: dst[i_perm[0], i_perm[1], ...] = src[i_0, i_1, ...]; dimension k of dst is dimension perm[k] of src
 *
 *  src   any shape and dtype
 *  dst   the dimensions of src in the order of perm
 *  perm  each axis of src once, negative counted from the end; none: the axes in reverse
 */
#ifdef MST_OP_HEADER
typedef struct mst_transpose_options {
    int zero_;
    mst_value src;
    mst_axes perm; /**< for each axis of dst, the axis of src; none: reversed */
} mst_transpose_options;
MST_API mst_value mst_transpose_with(mst_transpose_options options);
#define mst_transpose(...) mst_transpose_with(MST_NAMED_1(mst_transpose_options, src, __VA_ARGS__))
#endif
#include "op/op.h"
#include "op/shape/strided.h"

static const mst_field transpose_fields[] = {
    MST_FIELD_AXES(mst_transpose_options, perm, "axis of src that each axis of dst is; none: reversed"),
    MST_FIELD_END,
};

/* Sets AXIS [ndim] to PERM, or to its default, without negative axes. */
static void resolve(const mst_axes *perm, int ndim, int *axis) {
    for (int k = 0; k < ndim; k++) {
        axis[k] = perm->count ? perm->axis[k] : ndim - 1 - k;
        if (axis[k] < 0) axis[k] += ndim;
    }
}

static mst_status transpose_infer(mst_infer *c) {
    const mst_axes *perm = &((const mst_transpose_options *)c->options)->perm;
    const mst_shape *src = &c->src[0].shape;
    if (perm->count && perm->count != src->ndim)
        return mst_infer_fail(c, "perm has %d axes, the source %d dimensions", perm->count, src->ndim);
    bool seen[MST_MAX_NDIM] = {false};
    for (int k = 0; k < perm->count; k++) {
        int axis;
        MST_TRY(mst_infer_axis(c, perm->axis[k], src->ndim, &axis));
        if (seen[axis]) return mst_infer_fail(c, "axis %d is in perm twice", axis);
        seen[axis] = true;
    }
    int axis[MST_MAX_NDIM];
    resolve(perm, src->ndim, axis);
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = {.ndim = src->ndim}};
    for (int k = 0; k < src->ndim; k++) c->dst[0].shape.dim[k] = src->dim[axis[k]];
    return MST_OK;
}

static mst_value transpose_grad(mst_grad *c, int i) {
    (void)i;
    int ndim = mst_value_spec(c->dst[0]).shape.ndim, axis[MST_MAX_NDIM];
    resolve(&((const mst_transpose_options *)c->options)->perm, ndim, axis);
    mst_axes inverse = {.count = ndim};
    for (int k = 0; k < ndim; k++) inverse.axis[axis[k]] = k;
    return mst_transpose(.src = c->ddst[0], .perm = inverse);
}

static void transpose_lower(mst_lower *l) {
    mst_axes perm = {.count = l->src_spec[0].shape.ndim};
    int axis[MST_MAX_NDIM];
    resolve(&((const mst_transpose_options *)l->options)->perm, perm.count, axis);
    for (int k = 0; k < perm.count; k++) perm.axis[k] = axis[k];
    l->dst[0] = mst_hlo_transpose(l, l->src[0], perm);
}

static mst_status transpose_reference(const mst_kernel_args *a) {
    const mst_array *src = &a->src[0], *dst = &a->dst[0];
    int ndim = src->shape.ndim, axis[MST_MAX_NDIM];
    resolve(&((const mst_transpose_options *)a->options)->perm, ndim, axis);
    int64_t src_stride[MST_MAX_NDIM], dst_stride[MST_MAX_NDIM], permuted[MST_MAX_NDIM];
    mst_strides(&src->shape, src_stride);
    mst_strides(&dst->shape, dst_stride);
    for (int k = 0; k < ndim; k++) permuted[k] = src_stride[axis[k]];
    return mst_strided_copy(a, mst_dtype_size(src->dtype), ndim, dst->shape.dim, dst->data, dst_stride, src->data,
                            permuted);
}

static const mst_example transpose_examples[] = {
    {.name = "matrix",
     .num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}}},
     .expect = {(const double[]){1, 4, 2, 5, 3, 6}}},
    {.name = "perm",
     .num_src = 1,
     .src = {{.dtype = MST_I64, .ndim = 3, .dim = {2, 1, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}}},
     .options = &(const mst_transpose_options){.perm = {.count = 3, .axis = {-1, 0, 1}}},
     .expect = {(const double[]){1, 4, 2, 5, 3, 6}}},
    {.name = "batch of matrices",
     .num_src = 1,
     .src = {{.dtype = MST_U8, .ndim = 3, .dim = {2, 2, 2}, .value = (const double[]){1, 2, 3, 4, 5, 6, 7, 8}}},
     .options = &(const mst_transpose_options){.perm = {.count = 3, .axis = {0, 2, 1}}},
     .expect = {(const double[]){1, 3, 2, 4, 5, 7, 6, 8}}},
    {.name = "scalar",
     .num_src = 1,
     .src = {{.ndim = 0, .value = (const double[]){1}}},
     .expect = {(const double[]){1}}},
    {.name = "empty", .num_src = 1, .src = {{.ndim = 2, .dim = {0, 3}}}},
    {.name = "many dimensions",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {3, 2, 35, 2}}},
     .options = &(const mst_transpose_options){.perm = {.count = 4, .axis = {2, 0, 3, 1}}}},
    {.name = "perm of another length",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}}},
     .options = &(const mst_transpose_options){.perm = {.count = 3, .axis = {0, 1, 2}}},
     .fails = MST_INVALID},
    {.name = "axis twice",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}}},
     .options = &(const mst_transpose_options){.perm = {.count = 2, .axis = {1, -1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_transpose = {
    .name = "transpose",
    .tf_form = "Transpose($0, @perm; Tperm=i32)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_INFALLIBLE,
    .fields = transpose_fields,
    .options_size = sizeof(mst_transpose_options),
    .infer = transpose_infer,
    .grad = transpose_grad,
    .reference = transpose_reference,
    .lower = transpose_lower,
    MST_EXAMPLES(transpose_examples),
};

mst_value mst_transpose_with(mst_transpose_options options) {
    return mst_call(NULL, &mst_op_transpose, 1, &options.src, &options);
}
