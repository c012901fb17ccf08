/** stack: the sources as the slices of a new dimension
 *
 *  values  at least one, of one dtype and shape
 *  dst     their dtype; their shape with a dimension of n inserted before axis
 *  axis    of dst; negative ones count from the end, -1 puts it last
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_stack(const mst_value *values, int n, int axis);
#endif
#include <stdlib.h>

#include "op/op.h"
#include "op/shape/strided.h"

typedef struct stack_options {
    int zero_;
    int axis;
} stack_options;

static const mst_field stack_fields[] = {
    MST_FIELD_I32(stack_options, axis, 0, 0, 0, "of dst that is new"),
    MST_FIELD_END,
};

static mst_status stack_infer(mst_infer *c) {
    mst_spec part;
    MST_TRY(mst_infer_sources_alike(c, -1, &part));
    if (part.shape.ndim == MST_MAX_NDIM)
        return mst_infer_fail(c, "the sources have %d dimensions, the most possible", part.shape.ndim);
    int axis;
    MST_TRY(mst_infer_axis(c, ((const stack_options *)c->options)->axis, part.shape.ndim + 1, &axis));
    c->dst[0] = (mst_spec){.dtype = part.dtype, .shape = {.ndim = part.shape.ndim + 1}};
    for (int k = 0; k <= part.shape.ndim; k++)
        c->dst[0].shape.dim[k] = k == axis ? c->num_src : part.shape.dim[k < axis ? k : k - 1];
    return MST_OK;
}

static mst_value stack_grad(mst_grad *c, int i) {
    int ndim = mst_value_spec(c->dst[0]).shape.ndim, axis = ((const stack_options *)c->options)->axis;
    if (axis < 0) axis += ndim;
    mst_axes begin = {.count = axis + 1}, end = {.count = axis + 1};
    begin.axis[axis] = i;
    end.axis[axis] = i + 1;
    int whole = (1 << axis) - 1;
    return mst_strided_slice(.src = c->ddst[0], .begin = begin, .end = end, .begin_mask = whole, .end_mask = whole,
                             .shrink_mask = 1 << axis);
}

static void stack_lower(mst_lower *l) {
    const int ndim = l->dst_spec[0].shape.ndim, given = ((const stack_options *)l->options)->axis;
    const int axis = given < 0 ? given + ndim : given;
    mst_shape part = l->dst_spec[0].shape;
    part.dim[axis] = 1;
    mst_hlo *src = calloc((size_t)l->num_src, sizeof *src);
    if (!src) {
        mst_hlo_fail(l, "cannot get memory");
        return;
    }
    for (int i = 0; i < l->num_src; i++) src[i] = mst_hlo_reshape(l, l->src[i], part);
    l->dst[0] = mst_hlo_concat(l, l->num_src, src, axis);
    free(src);
}

static mst_status stack_reference(const mst_kernel_args *a) {
    const int64_t rows = mst_rows_before(&a->dst[0].shape, ((const stack_options *)a->options)->axis);
    return mst_parts_copy(a, &a->dst[0], a->src, a->num_src, rows, true);
}

static const mst_example stack_examples[] = {
    {.name = "rows",
     .num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}, .value = (const double[]){1, 2}},
             {.dtype = MST_F32, .ndim = 1, .dim = {2}, .value = (const double[]){3, 4}}},
     .expect = {(const double[]){1, 2, 3, 4}}},
    {.name = "columns",
     .num_src = 3,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {2}, .value = (const double[]){1, 2}},
             {.dtype = MST_I32, .ndim = 1, .dim = {2}, .value = (const double[]){3, 4}},
             {.dtype = MST_I32, .ndim = 1, .dim = {2}, .value = (const double[]){5, 6}}},
     .options = &(const stack_options){.axis = -1},
     .expect = {(const double[]){1, 3, 5, 2, 4, 6}}},
    {.name = "scalars",
     .num_src = 2,
     .src = {{.ndim = 0, .value = (const double[]){1}}, {.ndim = 0, .value = (const double[]){0}}},
     .expect = {(const double[]){1, 0}}},
    {.name = "middle",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 2, .dim = {2, 3}}},
     .options = &(const stack_options){.axis = 1}},
    {.name = "empty", .num_src = 2, .src = {{.ndim = 1, .dim = {0}}, {.ndim = 1, .dim = {0}}}},
    {.name = "shapes differ",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {3}}},
     .fails = MST_INVALID},
    {.name = "axis out of range",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}}},
     .options = &(const stack_options){.axis = 2},
     .fails = MST_INVALID},
};

const mst_op mst_op_stack = {
    .name = "stack",
    .tf_form = "Pack($*; N=n axis=axis)",
    .num_src = MST_VARIADIC,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_INFALLIBLE,
    .fields = stack_fields,
    .options_size = sizeof(stack_options),
    .infer = stack_infer,
    .grad = stack_grad,
    .reference = stack_reference,
    .lower = stack_lower,
    MST_EXAMPLES(stack_examples),
};

mst_value mst_stack(const mst_value *values, int n, int axis) {
    return mst_call(NULL, &mst_op_stack, n, values, &(stack_options){.axis = axis});
}
