/** slice: dst[i] = src[begin + i], 0 <= i < size
 *
 *  src    any shape and dtype
 *  dst    src's dtype; size
 *  begin  one number for each dimension of src, at least 0
 *  size   one number for each dimension of src; -1: all from begin on
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_slice(mst_value src, mst_shape begin, mst_shape size);
#endif
#include "op/op.h"
#include "op/shape/strided.h"

typedef struct slice_options {
    int zero_;
    mst_shape begin;
    mst_shape size;
} slice_options;

static const mst_field slice_fields[] = {
    MST_FIELD_SHAPE(slice_options, begin, "first element along each dimension"),
    MST_FIELD_SHAPE(slice_options, size, "of dst; -1: all from begin on"),
    MST_FIELD_END,
};

static mst_status slice_infer(mst_infer *c) {
    const slice_options *o = c->options;
    const mst_shape *src = &c->src[0].shape;
    if (o->begin.ndim != src->ndim || o->size.ndim != src->ndim)
        return mst_infer_fail(c, "begin has %d and size %d numbers, the source %d dimensions", o->begin.ndim,
                              o->size.ndim, src->ndim);
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = o->size};
    for (int k = 0; k < src->ndim; k++) {
        int64_t begin = o->begin.dim[k], size = o->size.dim[k], have = src->dim[k];
        if (begin < 0 || size < -1 || (have >= 0 && (begin > have || size > have - begin)))
            return mst_infer_fail(c, "begin %lld and size %lld do not fit dimension %d", (long long)begin,
                                  (long long)size, k);
        if (size == -1 && have >= 0) c->dst[0].shape.dim[k] = have - begin;
    }
    return MST_OK;
}

static mst_value slice_grad(mst_grad *c, int i) {
    (void)i;
    return mst_slice_grad(c->ddst[0], c->src[0], ((const slice_options *)c->options)->begin);
}

static void slice_lower(mst_lower *l) {
    mst_slice_lower(l, &((const slice_options *)l->options)->begin);
}

static mst_status slice_reference(const mst_kernel_args *a) {
    return mst_slice_copy(a, &a->src[0], &((const slice_options *)a->options)->begin, &a->dst[0], true);
}

static const mst_example slice_examples[] = {
    {.name = "part",
     .num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}}},
     .options = &(const slice_options){.begin = {.ndim = 2, .dim = {0, 1}}, .size = {.ndim = 2, .dim = {2, 1}}},
     .expect = {(const double[]){2, 5}}},
    {.name = "rest",
     .num_src = 1,
     .src = {{.dtype = MST_U8, .ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}}},
     .options = &(const slice_options){.begin = {.ndim = 2, .dim = {1, 1}}, .size = {.ndim = 2, .dim = {-1, -1}}},
     .expect = {(const double[]){5, 6}}},
    {.name = "all dtypes",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {3, 2, 4}}},
     .options = &(const slice_options){.begin = {.ndim = 3, .dim = {1, 0, 1}}, .size = {.ndim = 3, .dim = {2, -1, 2}}}},
    {.name = "scalar",
     .num_src = 1,
     .src = {{.ndim = 0, .value = (const double[]){1}}},
     .expect = {(const double[]){1}}},
    {.name = "nothing",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {3}}},
     .options = &(const slice_options){.begin = {.ndim = 1, .dim = {3}}, .size = {.ndim = 1, .dim = {-1}}}},
    {.name = "past the end",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {3}}},
     .options = &(const slice_options){.begin = {.ndim = 1, .dim = {2}}, .size = {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
    {.name = "negative begin",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {3}}},
     .options = &(const slice_options){.begin = {.ndim = 1, .dim = {-1}}, .size = {.ndim = 1, .dim = {1}}},
     .fails = MST_INVALID},
    {.name = "too few numbers",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {3, 3}}},
     .options = &(const slice_options){.begin = {.ndim = 1, .dim = {0}}, .size = {.ndim = 1, .dim = {1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_slice = {
    .name = "slice",
    .tf_form = "Slice($0, begin:i64, size:i64; Index=i64)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_INFALLIBLE,
    .fields = slice_fields,
    .options_size = sizeof(slice_options),
    .infer = slice_infer,
    .grad = slice_grad,
    .reference = slice_reference,
    .lower = slice_lower,
    MST_EXAMPLES(slice_examples),
};

mst_value mst_slice(mst_value src, mst_shape begin, mst_shape size) {
    return mst_call(NULL, &mst_op_slice, 1, &src, &(slice_options){.begin = begin, .size = size});
}

/* ---- the gradient ---- */

/** slice_grad: dst[begin + i] = gradient[i], all other elements 0
 *
 *  gradient  any shape and dtype: of the output of a slice
 *  like      any dtype, as many dimensions as gradient; only its shape is used
 *  dst       gradient's dtype, like's shape
 *  begin     one number for each dimension, at least 0
 */

typedef struct slice_grad_options {
    int zero_;
    mst_shape begin;
} slice_grad_options;

static const mst_field slice_grad_fields[] = {
    MST_FIELD_SHAPE(slice_grad_options, begin, "first element along each dimension"),
    MST_FIELD_END,
};

static mst_status slice_grad_infer(mst_infer *c) {
    MST_TRY(mst_infer_part(c, &((const slice_grad_options *)c->options)->begin, 1, 0));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = c->src[1].shape};
    return MST_OK;
}

static mst_value slice_grad_grad(mst_grad *c, int i) {
    if (i > 0) return MST_NONE;
    return mst_slice_like(c->ddst[0], c->src[0], ((const slice_grad_options *)c->options)->begin);
}

static void slice_grad_lower(mst_lower *l) {
    l->dst[0] = mst_place_lower(l, &((const slice_grad_options *)l->options)->begin, 0);
}

static mst_status slice_grad_reference(const mst_kernel_args *a) {
    const mst_array *dst = &a->dst[0];
    MST_TRY(mst_zero(a, dst->data, (size_t)dst->count * mst_dtype_size(dst->dtype)));
    return mst_slice_copy(a, dst, &((const slice_grad_options *)a->options)->begin, &a->src[0], false);
}

static const mst_example slice_grad_examples[] = {
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
    .dtypes = MST_STORED_DTYPES,
    .shape_only = 1u << 1,
    .fields = slice_grad_fields,
    .options_size = sizeof(slice_grad_options),
    .infer = slice_grad_infer,
    .grad = slice_grad_grad,
    .reference = slice_grad_reference,
    .lower = slice_grad_lower,
    MST_EXAMPLES(slice_grad_examples),
};

mst_value mst_slice_grad(mst_value gradient, mst_value like, mst_shape begin) {
    return mst_call(NULL, &mst_op_slice_grad, 2, (mst_value[]){gradient, like}, &(slice_grad_options){.begin = begin});
}
