/** dim_size: dst = number of elements of dimension axis of src, as a scalar
 *
 *  src    any shape and dtype; only its shape is used
 *  dst    scalar of dtype. The plan computes it, and all values that depend on no other value, as a constant
 *  axis   negative ones count from the end
 *  dtype  f32, f64, i32 or i64; MST_NO_DTYPE: i64
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_dim_size(mst_value src, int axis, mst_dtype dtype);
#endif
#include "op/op.h"
#include "op/shape/strided.h"

typedef struct dim_size_options {
    int zero_;
    int axis;
    mst_dtype dtype;
} dim_size_options;

static const mst_field dim_size_fields[] = {
    MST_FIELD_I32(dim_size_options, axis, 0, 0, 0, "dimension to measure"),
    MST_FIELD_DTYPE(dim_size_options, dtype, MST_I64, "of the result"),
    MST_FIELD_END,
};

static mst_status dim_size_infer(mst_infer *c) {
    const dim_size_options *o = c->options;
    int axis;
    MST_TRY(mst_infer_axis(c, o->axis, c->src[0].shape.ndim, &axis));
    if (!((MST_FLOATS | MST_INDICES) & MST_DTYPE_BIT(o->dtype)))
        return mst_infer_fail(c, "dtype is %s, must be f32, f64, i32 or i64", mst_dtype_name(o->dtype));
    MST_TRY(mst_infer_storable(c, (double)c->src[0].shape.dim[axis], o->dtype, "the dimension"));
    c->dst[0] = (mst_spec){.dtype = o->dtype, .shape = {.ndim = 0}};
    return MST_OK;
}

static void dim_size_lower(mst_lower *l) {
    const mst_shape *shape = &l->src_spec[0].shape;
    const int axis = ((const dim_size_options *)l->options)->axis;
    l->dst[0] = mst_hlo_number(l, l->dst_spec[0].dtype, (double)shape->dim[axis < 0 ? axis + shape->ndim : axis]);
}

static mst_status dim_size_reference(const mst_kernel_args *a) {
    const mst_shape *shape = &a->src[0].shape;
    int axis = ((const dim_size_options *)a->options)->axis;
    return mst_array_fill(a, &a->dst[0], (double)shape->dim[axis < 0 ? axis + shape->ndim : axis]);
}

static const mst_example dim_size_examples[] = {
    {.name = "first", .num_src = 1, .src = {{.ndim = 2, .dim = {2, 3}}}, .expect = {(const double[]){2}}},
    {.name = "last, as f32",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}}},
     .options = &(const dim_size_options){.axis = -1, .dtype = MST_F32},
     .expect = {(const double[]){3}}},
    {.name = "empty",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {0}}},
     .options = &(const dim_size_options){.dtype = MST_I32},
     .expect = {(const double[]){0}}},
    {.name = "scalar", .num_src = 1, .src = {{.ndim = 0}}, .fails = MST_INVALID},
    {.name = "as bool",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}}},
     .options = &(const dim_size_options){.dtype = MST_BOOL},
     .fails = MST_INVALID},
};

const mst_op mst_op_dim_size = {
    .name = "dim_size",
    .tf_form =
        ">Cast(GatherV2(Shape($0; out_type=i64), @axis, 0:i32; Tparams=i64 Tindices=i32 "
        "Taxis=i32 batch_dims=0); SrcT=i64 DstT=dtype)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_STORED_DTYPES,
    .flags = MST_OP_INFALLIBLE,
    .shape_only = 1u << 0,
    .fields = dim_size_fields,
    .options_size = sizeof(dim_size_options),
    .infer = dim_size_infer,
    .reference = dim_size_reference,
    .lower = dim_size_lower,
    MST_EXAMPLES(dim_size_examples),
};

mst_value mst_dim_size(mst_value src, int axis, mst_dtype dtype) {
    return mst_call(NULL, &mst_op_dim_size, 1, &src, &(dim_size_options){.axis = axis, .dtype = dtype});
}
