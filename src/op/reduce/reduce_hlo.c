/* Reductions as StableHLO. */
#include "muster/ops.h"
#include "op/reduce/reduce.h"

mst_axes mst_reduce_axes(const mst_axes *axes, int ndim) {
    bool reduced[MST_MAX_NDIM];
    mst_axes all = {.count = 0};
    mst_reduce_mask(axes, ndim, reduced);
    for (int k = 0; k < ndim; k++)
        if (reduced[k]) all.axis[all.count++] = k;
    return all;
}

mst_hlo mst_reduce_wide(mst_lower *l) {
    return l->src_spec[0].dtype == MST_F32 ? mst_hlo_convert(l, l->src[0], MST_F64) : l->src[0];
}

mst_hlo mst_reduce_lower(mst_lower *l, const char *operation, mst_hlo x, double initial) {
    const mst_axes axes = mst_reduce_axes(&((const mst_reduce_options *)l->options)->axes, l->src_spec[0].shape.ndim);
    return mst_hlo_reshape(l, mst_hlo_reduce(l, operation, x, initial, axes), l->dst_spec[0].shape);
}
