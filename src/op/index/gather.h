/** Functions that gather and gather_grad share. */
#ifndef MUSTER_OP_GATHER_H
#define MUSTER_OP_GATHER_H

#include "muster/op.h"

typedef struct mst_gather_options {
    int zero_;
    int axis;
} mst_gather_options;

extern const mst_field mst_gather_fields[];

/** The shape of params as [outer, size, inner]; indices go into the axis of `size` elements. */
typedef struct mst_gather_sizes {
    int64_t outer, size, inner;
} mst_gather_sizes;

static inline int64_t mst_gather_index(const mst_array *indices, int64_t i) {
    return indices->dtype == MST_I32 ? ((const int32_t *)indices->data)[i] : ((const int64_t *)indices->data)[i];
}

/** Sets OUT to the shape of the result of a gather of the indices in source INDICES from an array of shape PARAMS. */
MST_CHECKED mst_status mst_gather_infer(mst_infer *c, const mst_shape *params, int indices, mst_shape *out);
/** The sizes of the loops over PARAMS. */
mst_gather_sizes mst_gather_loops(const mst_kernel_args *a, const mst_array *params);
/** Fails if one of elements BEGIN to END - 1 of the indices is not within 0 to SIZE - 1. */
MST_CHECKED mst_status mst_gather_check(const mst_kernel_args *a, const mst_array *indices, int64_t size, int64_t begin,
                                        int64_t end);

/** The op gather_grad, which is internal to the library. */
mst_value mst_gather_grad(mst_value gradient, mst_value indices, mst_value like, int axis);

#endif
