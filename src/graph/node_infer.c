/* Inference of one node: mst_node_infer calls the op's `infer` and checks the result. So later code can rely on valid
 * dtypes, at most MST_MAX_NDIM dimensions, and sizes in bytes that fit 64 bits. Before it in this file are the
 * checks that ops call in their `infer` (mst_infer_want_dtype, mst_infer_broadcast, ...). Each fails with a message
 * that names the node and shows the dtype and shape of every source. A dimension of -1 is not known yet and agrees with
 * every size. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/argument.h"
#include "base/failure.h"
#include "graph/graph.h"
#include "graph/spec.h"

mst_axes mst_axes_make(int count, const int *axis) {
    if (count > 0 && MST_IS_NULL(axis)) return (mst_axes){.count = 0};
    mst_axes axes = {.count = count};
    for (int i = 0; i < count && i < MST_MAX_NDIM; i++) axes.axis[i] = axis[i];
    return axes;
}

mst_status mst_infer_fail(mst_infer *c, const char *format, ...) {
    if (MST_IS_NULL(c)) return MST_INVALID;
    char reason[256], text[900];
    va_list list;
    va_start(list, format);
    vsnprintf(reason, sizeof reason, format, list);
    va_end(list);
    size_t used = (size_t)snprintf(text, sizeof text, "%s '%s': %s", c->op->name, c->name, reason);
    for (int i = 0; i < c->num_src && i < 6 && used < sizeof text; i++) {
        char spec[MST_SPEC_TEXT];
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %s%s%s", i ? "," : ":",
                                 c->src_name ? c->src_name[i] : "", c->src_name ? " " : "",
                                 mst_spec_print(&c->src[i], spec, sizeof spec));
    }
    MST_FAIL(MST_INVALID, "%s", text);
    return mst_error_at(c->name, NULL);
}

mst_status mst_infer_want_dtype(mst_infer *c, int i, mst_dtype dtype) {
    if (MST_IS_NULL(c)) return MST_INVALID;
    if (c->src[i].dtype == dtype) return MST_OK;
    return mst_infer_fail(c, "source %d is %s, must be %s", i, mst_dtype_name(c->src[i].dtype), mst_dtype_name(dtype));
}

mst_status mst_infer_want_float(mst_infer *c, int i) {
    if (MST_IS_NULL(c)) return MST_INVALID;
    if (c->src[i].dtype == MST_F32 || c->src[i].dtype == MST_F64) return MST_OK;
    return mst_infer_fail(c, "source %d is %s, must be f32 or f64", i, mst_dtype_name(c->src[i].dtype));
}

mst_status mst_infer_want_index(mst_infer *c, int i) {
    if (MST_IS_NULL(c)) return MST_INVALID;
    if (c->src[i].dtype == MST_I32 || c->src[i].dtype == MST_I64) return MST_OK;
    return mst_infer_fail(c, "source %d is %s, must be i32 or i64", i, mst_dtype_name(c->src[i].dtype));
}

mst_status mst_infer_want_listed(mst_infer *c, int i) {
    if (MST_IS_NULL(c)) return MST_INVALID;
    if (c->op->dtypes & MST_DTYPE_BIT(c->src[i].dtype)) return MST_OK;
    char wanted[64] = "";
    for (int d = 1; d < MST_NUM_DTYPES; d++) {
        if (!(c->op->dtypes & MST_DTYPE_BIT(d))) continue;
        size_t used = strlen(wanted);
        snprintf(wanted + used, sizeof wanted - used, "%s%s", used ? ", " : "", mst_dtype_name((mst_dtype)d));
    }
    return mst_infer_fail(c, "source %d is %s, must be one of %s", i, mst_dtype_name(c->src[i].dtype), wanted);
}

mst_status mst_infer_same_dtype(mst_infer *c, int i, int j) {
    if (MST_IS_NULL(c)) return MST_INVALID;
    if (c->src[i].dtype == c->src[j].dtype) return MST_OK;
    return mst_infer_fail(c, "dtypes %s and %s differ (mst_cast converts)", mst_dtype_name(c->src[i].dtype),
                          mst_dtype_name(c->src[j].dtype));
}

mst_status mst_infer_want_ndim(mst_infer *c, int i, int ndim) {
    if (MST_IS_NULL(c)) return MST_INVALID;
    if (c->src[i].shape.ndim == ndim) return MST_OK;
    return mst_infer_fail(c, "source %d has %d dimensions, must have %d", i, c->src[i].shape.ndim, ndim);
}

mst_status mst_infer_same_dim(mst_infer *c, int64_t a, int64_t b, const char *what, int64_t *out) {
    if (MST_IS_NULL(c) || MST_IS_NULL(out)) return MST_INVALID;
    if (a >= 0 && b >= 0 && a != b)
        return mst_infer_fail(c, "%s %lld and %lld differ", what, (long long)a, (long long)b);
    *out = a >= 0 ? a : b;
    return MST_OK;
}

mst_status mst_infer_same_shape(mst_infer *c, int i, int j, mst_shape *out) {
    if (MST_IS_NULL(c) || MST_IS_NULL(out)) return MST_INVALID;
    const mst_shape *a = &c->src[i].shape, *b = &c->src[j].shape;
    if (a->ndim != b->ndim || !mst_dims_agree(a, b, a->ndim))
        return mst_infer_fail(c, "shapes of sources %d and %d differ", i, j);
    out->ndim = a->ndim;
    for (int k = 0; k < a->ndim; k++) out->dim[k] = a->dim[k] >= 0 ? a->dim[k] : b->dim[k];
    return MST_OK;
}

mst_status mst_infer_broadcast(mst_infer *c, int i, int j, mst_shape *out) {
    if (MST_IS_NULL(c) || MST_IS_NULL(out)) return MST_INVALID;
    mst_shape a = c->src[i].shape, b = c->src[j].shape;
    out->ndim = a.ndim > b.ndim ? a.ndim : b.ndim;
    for (int k = 1; k <= out->ndim; k++) {
        int64_t da = k <= a.ndim ? a.dim[a.ndim - k] : 1, db = k <= b.ndim ? b.dim[b.ndim - k] : 1;
        int64_t *dim = &out->dim[out->ndim - k];
        if (da == db || db == 1)
            *dim = da;
        else if (da == 1)
            *dim = db;
        else if (da < 0 || db < 0)
            *dim = da < 0 ? db : da; /* an unknown dimension must turn out to be 1 or the same */
        else
            return mst_infer_fail(c, "shapes do not broadcast: %lld and %lld differ", (long long)da, (long long)db);
    }
    return MST_OK;
}

mst_status mst_infer_axis(mst_infer *c, int axis, int ndim, int *out) {
    if (MST_IS_NULL(c) || MST_IS_NULL(out)) return MST_INVALID;
    if (axis < -ndim || axis >= ndim) return mst_infer_fail(c, "axis %d is out of range for %d dimensions", axis, ndim);
    *out = axis < 0 ? axis + ndim : axis;
    return MST_OK;
}

/* Checks the outputs, because an `infer` of the user may leave one unset, or give it an impossible dtype or shape. */
static mst_status check_specs(mst_infer *c) {
    for (int i = 0; i < c->num_dst; i++) {
        const mst_spec *spec = &c->dst[i];
        if (spec->dtype <= MST_NO_DTYPE || spec->dtype >= MST_NUM_DTYPES)
            return mst_infer_fail(c, "infer gives output %d no dtype (%d)", i, (int)spec->dtype);
        if (spec->shape.ndim < 0 || spec->shape.ndim > MST_MAX_NDIM)
            return mst_infer_fail(c, "infer gives output %d %d dimensions, at most %d are possible", i,
                                  spec->shape.ndim, MST_MAX_NDIM);
        for (int k = 0; k < spec->shape.ndim; k++)
            if (spec->shape.dim[k] < -1)
                return mst_infer_fail(c, "infer gives dimension %d of output %d the size %lld", k, i,
                                      (long long)spec->shape.dim[k]);
    }
    return MST_OK;
}

/* Checks that the elements and bytes of each output can be counted in 64 bits; later code relies on it. */
static mst_status check_sizes(mst_infer *c) {
    for (int i = 0; i < c->num_dst; i++) {
        const mst_shape *shape = &c->dst[i].shape;
        int64_t bytes = 16; /* the size of the largest element */
        bool large = false;
        for (int k = 0; k < shape->ndim; k++) /* strides are products of dimensions even if another dimension is 0 */
            large |= shape->dim[k] > 0 && __builtin_mul_overflow(bytes, shape->dim[k], &bytes);
        char text[MST_SHAPE_TEXT];
        if (large) return mst_infer_fail(c, "too many elements in %s", mst_shape_print(*shape, text, sizeof text));
    }
    return MST_OK;
}

/* Whether OP does not accept values of DTYPE. Most kernels have no loop for bf16 and string, so an op has to list these
 * two. */
static bool refuses(const mst_op *op, mst_dtype dtype) {
    const unsigned only_moved = MST_DTYPE_BIT(MST_BF16) | MST_DTYPE_BIT(MST_STRING);
    return (MST_DTYPE_BIT(dtype) & only_moved & ~op->dtypes) && !(op->flags & MST_OP_NO_VALUE);
}

static mst_status check_sources(mst_infer *c) {
    for (int i = 0; i < c->num_src; i++) {
        const bool shape_only = i < 32 && (c->op->shape_only >> i & 1u);
        if (!shape_only && refuses(c->op, c->src[i].dtype))
            return mst_infer_fail(c, "source %d is %s, which %s does not take", i, mst_dtype_name(c->src[i].dtype),
                                  c->op->name);
    }
    return MST_OK;
}

static mst_status check_outputs(mst_infer *c) {
    for (int i = 0; i < c->num_dst; i++)
        if (refuses(c->op, c->dst[i].dtype))
            return mst_infer_fail(c, "output %d would be %s, which %s does not give", i,
                                  mst_dtype_name(c->dst[i].dtype), c->op->name);
    return MST_OK;
}

mst_status mst_node_infer(const mst_op *op, const void *options, const char *name, int num_src, const mst_spec *src,
                          const char *const *src_name, int num_dst, mst_spec *dst) {
    mst_infer c = {.op = op,
                   .options = options,
                   .name = name,
                   .num_src = num_src,
                   .src = src,
                   .src_name = src_name,
                   .num_dst = num_dst,
                   .dst = dst};
    MST_TRY(check_sources(&c));
    const uint64_t errors = mst_error_count();
    const mst_status status = op->infer(&c);
    if (status && mst_error_count() == errors)
        return mst_infer_fail(&c, "infer failed (%s) without a message", mst_status_name(status));
    MST_TRY(status);
    MST_TRY(check_specs(&c));
    MST_TRY(check_outputs(&c));
    return check_sizes(&c);
}
