/* StableHLO that ops which move elements share (op/shape/strided.h). */
#include <math.h>

#include "op/shape/strided.h"

mst_hlo mst_hlo_option(mst_lower *l, mst_dtype dtype, double value) {
    const bool is_number = mst_dtype_is_float(dtype) || dtype == MST_BOOL;
    return mst_hlo_number(l, dtype, is_number ? value : trunc(value));
}

mst_shape mst_parts_around(mst_shape shape, int axis) {
    mst_shape parts = MST_SHAPE(1, shape.dim[axis], 1);
    for (int k = 0; k < axis; k++) parts.dim[0] *= shape.dim[k];
    for (int k = axis + 1; k < shape.ndim; k++) parts.dim[2] *= shape.dim[k];
    return parts;
}

void mst_view_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_reshape(l, l->src[0], l->dst_spec[0].shape);
}

void mst_parts_lower(mst_lower *l) {
    const mst_parts_options *o = l->options;
    const mst_shape *whole = &l->src_spec[0].shape;
    const int axis = o->axis < 0 ? o->axis + whole->ndim : o->axis;
    const int64_t size = whole->dim[axis] / l->num_dst;
    for (int k = 0; k < l->num_dst; k++) {
        const mst_hlo part = mst_hlo_slice_axis(l, l->src[0], axis, k * size, (k + 1) * size);
        l->dst[k] = mst_hlo_reshape(l, part, l->dst_spec[k].shape);
    }
}

void mst_slice_lower(mst_lower *l, const mst_shape *begin) {
    const mst_shape *size = &l->dst_spec[0].shape;
    int64_t end[MST_MAX_NDIM] = {0};
    for (int k = 0; k < size->ndim; k++) end[k] = begin->dim[k] + size->dim[k];
    l->dst[0] = mst_hlo_slice(l, l->src[0], begin->dim, end, NULL);
}

mst_hlo mst_place_lower(mst_lower *l, const mst_shape *begin, double value) {
    const mst_shape *part = &l->src_spec[0].shape, *whole = &l->dst_spec[0].shape;
    int64_t after[MST_MAX_NDIM] = {0};
    for (int k = 0; k < part->ndim; k++) after[k] = whole->dim[k] - begin->dim[k] - part->dim[k];
    return mst_hlo_pad(l, l->src[0], mst_hlo_option(l, l->src_spec[0].dtype, value), begin->dim, after, NULL);
}
