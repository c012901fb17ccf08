#include "op/elementwise/elementwise.h"

/* ---- inference ---- */

mst_status mst_infer_unary(mst_infer *c) {
    MST_TRY(mst_infer_want_listed(c, 0));
    c->dst[0] = c->src[0];
    return MST_OK;
}

mst_status mst_infer_predicate(mst_infer *c) {
    MST_TRY(mst_infer_want_listed(c, 0));
    c->dst[0] = (mst_spec){.dtype = MST_BOOL, .shape = c->src[0].shape};
    return MST_OK;
}

mst_status mst_infer_binary(mst_infer *c) {
    MST_TRY(mst_infer_want_listed(c, 0));
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    MST_TRY(mst_infer_broadcast(c, 0, 1, &c->dst[0].shape));
    c->dst[0].dtype = c->src[0].dtype;
    return MST_OK;
}

mst_status mst_infer_comparison(mst_infer *c) {
    MST_TRY(mst_infer_binary(c));
    c->dst[0].dtype = MST_BOOL;
    return MST_OK;
}

mst_status mst_infer_same_spec(mst_infer *c) {
    MST_TRY(mst_infer_want_listed(c, 0));
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    MST_TRY(mst_infer_same_shape(c, 0, 1, &c->dst[0].shape));
    c->dst[0].dtype = c->src[0].dtype;
    return MST_OK;
}

/* ---- rows of broadcast arrays ---- */

/* Bit K is set if source K varies along dimension AXIS of output 0. */
static unsigned running(const mst_kernel_args *a, int axis) {
    unsigned mask = 0;
    for (int k = 0; k < a->num_src; k++) {
        const mst_shape *shape = &a->src[k].shape;
        const int own = axis - (a->dst[0].shape.ndim - shape->ndim);
        if (own >= 0 && shape->dim[own] != 1) mask |= 1u << k;
    }
    return mask;
}

mst_broadcast mst_broadcast_make(const mst_kernel_args *a) {
    mst_broadcast b = {.num_src = a->num_src, .inner = 1, .varies = {true, true, true}};
    const mst_shape *shape = &a->dst[0].shape;
    unsigned mask[MST_MAX_NDIM];
    for (int axis = 0; axis < shape->ndim; axis++) {
        if (shape->dim[axis] == 1) continue;
        mask[b.ndim] = running(a, axis);
        if (b.ndim && mask[b.ndim] == mask[b.ndim - 1])
            b.dim[b.ndim - 1] *= shape->dim[axis];
        else
            b.dim[b.ndim++] = shape->dim[axis];
    }
    for (int k = 0; k < a->num_src; k++) {
        int64_t stride = 1;
        for (int j = b.ndim - 1; j >= 0; j--) {
            if (!(mask[j] >> k & 1u)) continue;
            b.stride[k][j] = stride;
            stride *= b.dim[j];
        }
    }
    if (b.ndim) {
        b.inner = b.dim[--b.ndim];
        for (int k = 0; k < a->num_src; k++) b.varies[k] = mask[b.ndim] >> k & 1u;
    }
    return b;
}

bool mst_broadcast_next(mst_broadcast *b) {
    for (int j = b->ndim - 1; j >= 0; j--) {
        for (int k = 0; k < b->num_src; k++) b->offset[k] += b->stride[k][j];
        if (++b->index[j] < b->dim[j]) return true;
        for (int k = 0; k < b->num_src; k++) b->offset[k] -= b->stride[k][j] * b->dim[j];
        b->index[j] = 0;
    }
    return false;
}

void mst_binary_rows(const mst_kernel_args *a, mst_binary_row row) {
    const int64_t size = (int64_t)mst_dtype_size(a->src[0].dtype), dst_size = (int64_t)mst_dtype_size(a->dst[0].dtype);
    const char *xs = a->src[0].data, *ys = a->src[1].data;
    char *dst = a->dst[0].data;
    if (a->dst[0].count == 0) return;
    mst_broadcast b = mst_broadcast_make(a);
    do {
        row(xs + b.offset[0] * size, b.varies[0], ys + b.offset[1] * size, b.varies[1], dst, b.inner);
        dst += b.inner * dst_size;
    } while (mst_broadcast_next(&b));
}

void mst_compare_strings(const mst_kernel_args *a, bool equal) {
    uint8_t *dst = a->dst[0].data;
    if (a->dst[0].count == 0) return;
    mst_broadcast b = mst_broadcast_make(a);
    do {
        const mst_string *xs = (const mst_string *)a->src[0].data + b.offset[0];
        const mst_string *ys = (const mst_string *)a->src[1].data + b.offset[1];
        for (int64_t i = 0; i < b.inner; i++)
            *dst++ = mst_string_equal(xs[b.varies[0] ? i : 0], ys[b.varies[1] ? i : 0]) == equal;
    } while (mst_broadcast_next(&b));
}
