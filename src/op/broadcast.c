#include "op/broadcast.h"

#include "op/shape/strided.h"

mst_status mst_broadcast_infer(mst_infer *c, const mst_shape *shape) {
    const mst_shape *src = &c->src[0].shape;
    const int lead = shape->ndim - src->ndim;
    if (lead < 0) return mst_infer_fail(c, "a shape of %d dimensions does not broadcast to %d", src->ndim, shape->ndim);
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = *shape};
    for (int k = 0; k < src->ndim; k++) {
        int64_t small = src->dim[k], large = shape->dim[lead + k];
        if (small >= 0 && large >= 0 && small != 1 && small != large)
            return mst_infer_fail(c, "dimension %lld does not broadcast to %lld", (long long)small, (long long)large);
        if (large < 0 && small > 1) c->dst[0].shape.dim[lead + k] = small;
    }
    return MST_OK;
}

mst_status mst_broadcast_copy(const mst_kernel_args *a) {
    const mst_array *src = &a->src[0], *dst = &a->dst[0];
    if (src->count == dst->count) return mst_view_copy(a); /* nothing is repeated; dst may alias src */
    const int lead = dst->shape.ndim - src->shape.ndim;
    int64_t src_stride[MST_MAX_NDIM], dst_stride[MST_MAX_NDIM], repeated[MST_MAX_NDIM];
    mst_strides(&src->shape, src_stride);
    mst_strides(&dst->shape, dst_stride);
    for (int k = 0; k < dst->shape.ndim; k++)
        repeated[k] = k < lead || src->shape.dim[k - lead] == 1 ? 0 : src_stride[k - lead];
    return mst_strided_copy(a, mst_dtype_size(src->dtype), dst->shape.ndim, dst->shape.dim, dst->data, dst_stride,
                            src->data, repeated);
}
