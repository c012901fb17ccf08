/** concat: the sources one after the other along axis
 *
 *  values  at least one, of one dtype and the same shape but for dimension axis
 *  dst     their dtype; dimension axis is the sum of theirs
 *  axis    negative ones count from the end
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_concat(const mst_value *values, int n, int axis);
#endif
#include "op/op.h"
#include "op/shape/strided.h"

typedef struct concat_options {
    int zero_;
    int axis;
} concat_options;

static const mst_field fields[] = {
    MST_FIELD_I32(concat_options, axis, 0, 0, 0, "dimension to go along"),
    MST_FIELD_END,
};

mst_status mst_infer_sources_alike(mst_infer *c, int axis, mst_spec *out) {
    if (c->num_src < 1) return mst_infer_fail(c, "needs at least one source");
    *out = c->src[0];
    for (int i = 1; i < c->num_src; i++) {
        const mst_shape *src = &c->src[i].shape;
        MST_TRY(mst_infer_same_dtype(c, 0, i));
        if (src->ndim != out->shape.ndim)
            return mst_infer_fail(c, "source %d has %d dimensions, source 0 has %d", i, src->ndim, out->shape.ndim);
        for (int k = 0; k < src->ndim; k++) {
            int64_t *dim = &out->shape.dim[k];
            if (k == axis) continue;
            if (src->dim[k] >= 0 && *dim >= 0 && src->dim[k] != *dim)
                return mst_infer_fail(c, "dimension %d of source %d is %lld, of those before it %lld", k, i,
                                      (long long)src->dim[k], (long long)*dim);
            if (*dim < 0) *dim = src->dim[k];
        }
    }
    return MST_OK;
}

static mst_status infer(mst_infer *c) {
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

/* a slice; where its place is known only when planning, the op that finds it then */
static mst_value grad(mst_grad *c, int i) {
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

static mst_status reference(const mst_kernel_args *a) {
    const mst_shape *shape = &a->dst[0].shape;
    int axis = ((const concat_options *)a->options)->axis;
    if (axis < 0) axis += shape->ndim;
    int64_t rows = 1;
    for (int k = 0; k < axis; k++) rows *= shape->dim[k];
    return mst_parts_copy(a, &a->dst[0], a->src, a->num_src, rows, true);
}

static const mst_example examples[] = {
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

static bool is_identity(const mst_infer *c) {
    return c->num_src == 1;
}

const mst_op mst_op_concat = {
    .name = "concat",
    .tf_name = "ConcatV2",
    .num_src = MST_VARIADIC,
    .num_dst = 1,
    .dtypes = MST_ALL_DTYPES,
    .flags = MST_OP_INFALLIBLE,
    .fields = fields,
    .options_size = sizeof(concat_options),
    .infer = infer,
    .grad = grad,
    .is_identity = is_identity,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_concat(const mst_value *values, int n, int axis) {
    return mst_call(NULL, &mst_op_concat, n, values, &(concat_options){.axis = axis});
}
