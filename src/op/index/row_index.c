#include "op/index/row_index.h"

mst_status mst_row_index_infer(mst_infer *c, int rows, int indices) {
    const mst_shape *wide = &c->src[rows].shape, *narrow = &c->src[indices].shape;
    MST_TRY(mst_infer_want_listed(c, 0));
    MST_TRY(mst_infer_want_index(c, indices));
    if (narrow->ndim < 1 || narrow->ndim != wide->ndim)
        return mst_infer_fail(c, "%d and %d dimensions, must be as many and at least 1", wide->ndim, narrow->ndim);
    for (int k = 0; k < narrow->ndim - 1; k++) {
        int64_t dim;
        MST_TRY(mst_infer_same_dim(c, wide->dim[k], narrow->dim[k], "leading dimensions", &dim));
    }
    return MST_OK;
}

mst_status mst_row_index_check(const mst_kernel_args *a, const mst_array *indices, int64_t n, int64_t begin,
                               int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const int64_t index = mst_row_index_at(indices, i);
        if (index < 0 || index >= n)
            return mst_kernel_fail(a, MST_INVALID, "index %lld at %lld is out of range, 0 to %lld", (long long)index,
                                   (long long)i, (long long)n - 1);
    }
    return MST_OK;
}
