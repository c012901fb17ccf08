#include "op/pool/pool.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "op/norm/channel_blocks.h"
#include "op/op.h"
#include "op/share.h"

const mst_field mst_pool_fields[] = {
    MST_FIELD_AXES(mst_pool2d_options, size, "of a window: one number, or one for each axis"),
    MST_FIELD_AXES(mst_pool2d_options, strides, "from one window to the next; default: size"),
    MST_FIELD_ENUM(mst_pool2d_options, padding, MST_PADDING_VALID, mst_window_paddings, "around the source"),
    MST_FIELD_AXES(mst_pool2d_options, pads, "before and after each axis, in place of a padding"),
    MST_FIELD_END,
};

static mst_window_options windows_of(const mst_pool2d_options *o) {
    return (mst_window_options){
        .strides = o->strides.count ? o->strides : o->size, .pads = o->pads, .padding = o->padding};
}

static void size_of(const mst_pool2d_options *o, int64_t size[MST_MOST_WINDOW_AXES]) {
    for (int k = 0; k < MST_MOST_WINDOW_AXES; k++) size[k] = o->size.axis[o->size.count == 1 ? 0 : k];
}

static mst_status infer_shape(mst_infer *c, int ndim, mst_shape *dst) {
    const mst_pool2d_options *o = c->options;
    const mst_window_options w = windows_of(o);
    const mst_shape *src = &c->src[0].shape;
    const int num_axes = ndim - 2;
    int64_t size[MST_MOST_WINDOW_AXES];
    MST_TRY(mst_infer_want_float(c, 0));
    MST_TRY(mst_infer_want_ndim(c, 0, ndim));
    if (o->size.count != 1 && o->size.count != num_axes)
        return mst_infer_fail(c, "a size of %d numbers: give one, or one for each of the %d axes", (int)o->size.count,
                              num_axes);
    size_of(o, size);
    for (int k = 0; k < num_axes; k++)
        if (size[k] < 1) return mst_infer_fail(c, "the size of a window must be at least 1");
    *dst = *src;
    return mst_window_infer(c, &w, num_axes, &src->dim[1], size, &dst->dim[1]);
}

static mst_status infer_pool(mst_infer *c, int ndim) {
    c->dst[0].dtype = c->src[0].dtype;
    return infer_shape(c, ndim, &c->dst[0].shape);
}

mst_status mst_pool_infer(mst_infer *c) {
    return infer_pool(c, MST_CONV2D_NDIM);
}

mst_status mst_pool_infer_deep(mst_infer *c) {
    return infer_pool(c, MST_CONV3D_NDIM);
}

mst_status mst_pool_infer_any(mst_infer *c) {
    return infer_pool(c, mst_conv_ndim(&c->src[0].shape));
}

mst_status mst_pool_infer_grad(mst_infer *c) {
    mst_shape dst = {0};
    int64_t unified;
    const int ndim = mst_conv_ndim(&c->src[0].shape);
    MST_TRY(infer_shape(c, ndim, &dst));
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    MST_TRY(mst_infer_want_ndim(c, 1, ndim));
    for (int i = 0; i < dst.ndim; i++)
        MST_TRY(mst_infer_same_dim(c, dst.dim[i], c->src[1].shape.dim[i], "dimensions of the output and its gradient",
                                   &unified));
    c->dst[0] = c->src[0];
    return MST_OK;
}

mst_pool mst_pool_make(const mst_pool2d_options *o, const mst_shape *src, const mst_shape *dst) {
    const mst_window_options w = windows_of(o);
    mst_pool pool = {.channels = src->dim[src->ndim - 1]};
    int64_t size[MST_MOST_WINDOW_AXES];
    size_of(o, size);
    mst_window_make(&w, src->ndim - 2, &src->dim[1], size, &dst->dim[1], &pool.depth, pool.window);
    return pool;
}

mst_value mst_pool_again(const mst_op *op, const mst_pool2d_options *options, mst_value src) {
    return mst_call(NULL, op, 1, &src, options);
}

mst_value mst_pool_with_gradient(const mst_op *op, const mst_pool2d_options *options, mst_value src,
                                 mst_value gradient) {
    return mst_call(NULL, op, 2, (const mst_value[]){src, gradient}, options);
}

mst_value mst_pool_row(const mst_op *op, const mst_pool1d_options *o) {
    if (mst_value_is_none(o->src)) return o->src;
    const int ndim = mst_value_spec(o->src).shape.ndim;
    if (ndim != 3)
        return mst_value_fail(mst_value_graph(o->src), MST_INVALID, "pooling in one dimension: '%s' has %d, needs 3",
                              mst_value_name(o->src), ndim);
    const mst_pool2d_options options = {.size = MST_AXES(1, o->size),
                                        .strides = mst_window_row(o->stride ? o->stride : o->size),
                                        .padding = o->padding,
                                        .pads = mst_window_row_pads(o->pads)};
    return mst_squeeze(mst_pool_again(op, &options, mst_expand_dims(o->src, 1)), MST_AXES(1));
}

/* ---- kernels ---- */

typedef struct run {
    mst_pool pool;
    mst_pool_function function;
    const mst_array *src, *gradient, *dst;
} run;

static const void *example_of(const mst_array *array, int64_t n) {
    const size_t bytes = mst_dtype_size(array->dtype) * (size_t)(array->count / array->shape.dim[0]);
    return array->data ? (const char *)array->data + (size_t)n * bytes : NULL;
}

static mst_status run_examples(void *context, int64_t begin, int64_t end, int thread) {
    const run *r = context;
    (void)thread;
    for (int64_t n = begin; n < end; n++)
        r->function(&r->pool, example_of(r->src, n), r->gradient ? example_of(r->gradient, n) : NULL,
                    (void *)(uintptr_t)example_of(r->dst, n));
    return MST_OK;
}

mst_status mst_pool_run(const mst_kernel_args *a, const mst_pool_function functions[2]) {
    /* The array with the shape of the pooling's output: the gradient, or dst if the gradient is like the source. */
    const mst_array *out =
        a->num_src > 1 && !mst_shape_equal(a->src[1].shape, a->src[0].shape) ? &a->src[1] : &a->dst[0];
    run r = {.pool = mst_pool_make(a->options, &a->src[0].shape, &out->shape),
             .function = functions[a->dst[0].dtype == MST_F64],
             .src = &a->src[0],
             .gradient = a->num_src > 1 ? &a->src[1] : NULL,
             .dst = &a->dst[0]};
    const int64_t n = a->dst[0].shape.dim[0];
    if (a->dst[0].count == 0 || a->src[0].count == 0) return MST_OK;
    return mst_parallel(a, n, mst_grain(n, 2 * a->src[0].count / n), run_examples, &r);
}

#define MST_TEMPLATE "op/pool/pool_loops.inc"
#include "base/floats.inc"
