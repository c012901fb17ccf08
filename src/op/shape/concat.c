/** concat: the sources one after the other along axis
 *
 *  values  at least one, of one dtype, and of the same shape except in dimension axis
 *  dst     their dtype; dimension axis is the sum of their dimensions axis
 *  axis    negative ones count from the end
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_concat(const mst_value *values, int n, int axis);
#endif
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "op/op.h"
#include "op/shape/strided.h"

typedef struct concat_options {
    int zero_;
    int axis;
} concat_options;

static const mst_field concat_fields[] = {
    MST_FIELD_I32(concat_options, axis, 0, 0, 0, "dimension to go along"),
    MST_FIELD_END,
};

static mst_status concat_infer(mst_infer *c) {
    int axis = 0;
    if (c->num_src > 0)
        MST_TRY(mst_infer_axis(c, ((const concat_options *)c->options)->axis, c->src[0].shape.ndim, &axis));
    MST_TRY(mst_infer_sources_alike(c, axis, &c->dst[0]));
    int64_t *sum = &c->dst[0].shape.dim[axis];
    for (int i = 1; i < c->num_src && *sum >= 0; i++) {
        int64_t dim = c->src[i].shape.dim[axis];
        if (dim < 0)
            *sum = -1;
        else if (__builtin_add_overflow(*sum, dim, sum))
            return mst_infer_fail(c, "too many elements along axis %d", axis);
    }
    return MST_OK;
}

/* a slice; or concat_grad if the place of the slice is not known while the graph is built */
static mst_value concat_grad(mst_grad *c, int i) {
    mst_shape size = mst_value_spec(c->src[i]).shape;
    int axis = ((const concat_options *)c->options)->axis;
    if (axis < 0) axis += size.ndim;
    mst_shape begin = {.ndim = size.ndim};
    bool is_known = size.dim[axis] >= 0;
    for (int k = 0; k < i; k++) {
        int64_t dim = mst_value_spec(c->src[k]).shape.dim[axis];
        is_known &= dim >= 0;
        begin.dim[axis] += dim;
    }
    if (!is_known) return mst_concat_grad(c->ddst[0], c->src, c->num_src, axis, i);
    for (int k = 0; k < size.ndim; k++)
        if (k != axis) size.dim[k] = -1;
    return mst_slice(c->ddst[0], begin, size);
}

static void concat_lower(mst_lower *l) {
    const int axis = ((const concat_options *)l->options)->axis;
    l->dst[0] = mst_hlo_concat(l, l->num_src, l->src, axis < 0 ? axis + l->dst_spec[0].shape.ndim : axis);
}

static mst_status concat_reference(const mst_kernel_args *a) {
    const int64_t rows = mst_rows_before(&a->dst[0].shape, ((const concat_options *)a->options)->axis);
    return mst_parts_copy(a, &a->dst[0], a->src, a->num_src, rows, true);
}

static const mst_example concat_examples[] = {
    {.name = "rows",
     .num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 2, .dim = {1, 2}, .value = (const double[]){1, 2}},
             {.dtype = MST_F32, .ndim = 2, .dim = {2, 2}, .value = (const double[]){3, 4, 5, 6}}},
     .expect = {(const double[]){1, 2, 3, 4, 5, 6}}},
    {.name = "columns of three",
     .num_src = 3,
     .src = {{.dtype = MST_I64, .ndim = 2, .dim = {2, 1}, .value = (const double[]){1, 2}},
             {.dtype = MST_I64, .ndim = 2, .dim = {2, 2}, .value = (const double[]){3, 4, 5, 6}},
             {.dtype = MST_I64, .ndim = 2, .dim = {2, 0}}},
     .options = &(const concat_options){.axis = -1},
     .expect = {(const double[]){1, 3, 4, 2, 5, 6}}},
    {.name = "all dtypes",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 1, 3}}, {.ndim = 3, .dim = {2, 2, 3}}},
     .options = &(const concat_options){.axis = 1}},
    {.name = "one source",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){1, 0}}},
     .expect = {(const double[]){1, 0}}},
    {.name = "empty", .num_src = 2, .src = {{.ndim = 2, .dim = {0, 2}}, {.ndim = 2, .dim = {0, 2}}}},
    {.name = "other dimension differs",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {1, 2}}, {.ndim = 2, .dim = {1, 3}}},
     .fails = MST_INVALID},
    {.name = "dtypes differ",
     .num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {1}}, {.dtype = MST_F64, .ndim = 1, .dim = {1}}},
     .fails = MST_INVALID},
    {.name = "scalars", .num_src = 2, .src = {{.ndim = 0}, {.ndim = 0}}, .fails = MST_INVALID},
};

static bool concat_is_identity(const mst_infer *c) {
    return c->num_src == 1;
}

const mst_op mst_op_concat = {
    .name = "concat",
    .tf_form =
        "ConcatV2($*, axis; N=n Tidx=i32) if n>1\n"
        ">Identity($0)\n"
        "<Concat(axis, $*; N=n)",
    .num_src = MST_VARIADIC,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_INFALLIBLE,
    .fields = concat_fields,
    .options_size = sizeof(concat_options),
    .infer = concat_infer,
    .grad = concat_grad,
    .is_identity = concat_is_identity,
    .reference = concat_reference,
    .lower = concat_lower,
    MST_EXAMPLES(concat_examples),
};

mst_value mst_concat(const mst_value *values, int n, int axis) {
    return mst_call(NULL, &mst_op_concat, n, values, &(concat_options){.axis = axis});
}

/* ---- the gradient ---- */

/** concat_grad: the part of gradient that belongs to values[index] of a concat
 *
 *  gradient  any dtype: of the output of concat(values, n, axis)
 *  values    the sources of that concat; only their shapes are used
 *  dst       gradient's dtype, the shape of values[index]
 *
 *  It is a slice whose place is known only when the plan is made.
 */

typedef struct concat_grad_options {
    int zero_;
    int axis;
    int index;
} concat_grad_options;

static const mst_field concat_grad_fields[] = {
    MST_FIELD_I32(concat_grad_options, axis, 0, 0, 0, "dimension that the concat went along"),
    MST_FIELD_I32(concat_grad_options, index, 0, 0, 0, "source of the concat, from 0"),
    MST_FIELD_END,
};

static mst_status concat_grad_infer(mst_infer *c) {
    const concat_grad_options *o = c->options;
    if (o->index < 0 || o->index >= c->num_src - 1)
        return mst_infer_fail(c, "index %d of %d values", o->index, c->num_src - 1);
    const mst_shape *whole = &c->src[0].shape;
    int axis;
    MST_TRY(mst_infer_axis(c, o->axis, whole->ndim, &axis));
    int64_t sum = 0;
    for (int i = 1; i < c->num_src; i++) {
        const mst_shape *part = &c->src[i].shape;
        MST_TRY(mst_infer_same_dtype(c, 0, i));
        bool fits = part->ndim == whole->ndim;
        for (int k = 0; k < whole->ndim && fits; k++)
            fits = k == axis || part->dim[k] < 0 || whole->dim[k] < 0 || part->dim[k] == whole->dim[k];
        if (!fits) return mst_infer_fail(c, "value %d is no part of the gradient", i - 1);
        sum = sum < 0 || part->dim[axis] < 0 ? -1 : sum + part->dim[axis];
    }
    if (sum >= 0 && whole->dim[axis] >= 0 && sum != whole->dim[axis])
        return mst_infer_fail(c, "the values make %lld along axis %d, the gradient has %lld", (long long)sum, axis,
                              (long long)whole->dim[axis]);
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = c->src[1 + o->index].shape};
    return MST_OK;
}

/* the gradient in its place, zeros in all others */
static mst_value concat_grad_grad(mst_grad *c, int i) {
    const concat_grad_options *o = c->options;
    if (i > 0) return MST_NONE;
    mst_value *part = calloc((size_t)c->num_src, sizeof *part);
    if (!part) return MST_VALUE_NO_MEMORY(c->graph, "for a gradient of concat_grad");
    for (int k = 1; k < c->num_src; k++) part[k - 1] = k - 1 == o->index ? c->ddst[0] : mst_zeros_like(c->src[k]);
    mst_value whole = mst_concat(part, c->num_src - 1, o->axis);
    free(part);
    return whole;
}

static void concat_grad_lower(mst_lower *l) {
    const concat_grad_options *o = l->options;
    const int axis = o->axis < 0 ? o->axis + l->dst_spec[0].shape.ndim : o->axis;
    int64_t begin = 0;
    for (int i = 0; i < o->index; i++) begin += l->src_spec[1 + i].shape.dim[axis];
    l->dst[0] = mst_hlo_slice_axis(l, l->src[0], axis, begin, begin + l->dst_spec[0].shape.dim[axis]);
}

static mst_status concat_grad_reference(const mst_kernel_args *a) {
    const concat_grad_options *o = a->options;
    const mst_shape *whole = &a->src[0].shape;
    const int axis = o->axis < 0 ? o->axis + whole->ndim : o->axis;
    mst_shape begin = {.ndim = whole->ndim};
    for (int i = 0; i < o->index; i++) begin.dim[axis] += a->src[1 + i].shape.dim[axis];
    return mst_slice_copy(a, &a->src[0], &begin, &a->dst[0], true);
}

static const mst_example concat_grad_examples[] = {
    {.name = "second of two",
     .num_src = 3,
     .src = {{.dtype = MST_F32, .ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}},
             {.dtype = MST_F32, .ndim = 2, .dim = {2, 1}, .no_grad = true},
             {.dtype = MST_F32, .ndim = 2, .dim = {2, 2}, .no_grad = true}},
     .options = &(const concat_grad_options){.axis = 1, .index = 1},
     .expect = {(const double[]){2, 3, 5, 6}}},
    {.name = "first of two",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {3, 2}},
             {.ndim = 2, .dim = {1, 2}, .no_grad = true},
             {.ndim = 2, .dim = {2, 2}, .no_grad = true}}},
    {.name = "empty",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {2}},
             {.ndim = 1, .dim = {0}, .no_grad = true},
             {.ndim = 1, .dim = {2}, .no_grad = true}}},
    {.name = "no such value",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {2}}},
     .options = &(const concat_grad_options){.index = 1},
     .fails = MST_INVALID},
    {.name = "values are not the parts",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {3}}, {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_concat_grad = {
    .name = "concat_grad",
    .num_src = MST_VARIADIC,
    .num_dst = 1,
    .dtypes = MST_STORED_DTYPES,
    .shape_only = ~1u,
    .fields = concat_grad_fields,
    .options_size = sizeof(concat_grad_options),
    .infer = concat_grad_infer,
    .grad = concat_grad_grad,
    .reference = concat_grad_reference,
    .lower = concat_grad_lower,
    MST_EXAMPLES(concat_grad_examples),
};

mst_value mst_concat_grad(mst_value gradient, const mst_value *values, int n, int axis, int index) {
    mst_graph *graph = mst_value_graph(gradient);
    if (n < 0) return mst_value_fail(graph, MST_INVALID, "concat_grad: %d values, must be 0 or more", n);
    if (n > 0 && !values) return mst_value_fail(graph, MST_INVALID, "concat_grad: %d sources, but values is NULL", n);
    mst_value *src = calloc((size_t)n + 1, sizeof *src);
    if (!src) return MST_VALUE_NO_MEMORY(graph, "for a node");
    src[0] = gradient;
    memcpy(src + 1, values, (size_t)n * sizeof *src);
    mst_value part =
        mst_call(NULL, &mst_op_concat_grad, n + 1, src, &(concat_grad_options){.axis = axis, .index = index});
    free(src);
    return part;
}
