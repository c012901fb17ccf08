#include "op/index/nd_index.h"

#include "muster/ops.h"

bool mst_nd_index_check(const char *name, mst_value indices, const mst_shape *whole, int *k, int64_t *count) {
    mst_graph *graph = mst_value_graph(indices);
    const mst_spec spec = mst_value_spec(indices);
    const int64_t numbers = spec.shape.ndim > 0 ? spec.shape.dim[spec.shape.ndim - 1] : 0;
    if (spec.dtype != MST_I32 && spec.dtype != MST_I64) {
        mst_value_fail(graph, MST_INVALID, "%s: the indices '%s' are %s, must be i32 or i64", name,
                       mst_value_name(indices), mst_dtype_name(spec.dtype));
        return false;
    }
    if (numbers < 1 || numbers > whole->ndim) {
        mst_value_fail(graph, MST_INVALID, "%s: the last dimension of the indices '%s' must be 1 to %d", name,
                       mst_value_name(indices), whole->ndim);
        return false;
    }
    *k = (int)numbers;
    *count = 1;
    for (int i = 0; i < numbers; i++)
        if (whole->dim[i] < 0 || __builtin_mul_overflow(*count, whole->dim[i], count)) {
            mst_value_fail(graph, MST_INVALID, "%s: the dimensions that '%s' goes into must be known, and not too many",
                           name, mst_value_name(indices));
            return false;
        }
    return true;
}

mst_value mst_nd_index_flat(mst_value indices, const mst_shape *whole, int k) {
    mst_graph *graph = mst_value_graph(indices);
    double size[MST_MAX_NDIM], stride[MST_MAX_NDIM], step = 1;
    for (int i = k - 1; i >= 0; i--) {
        size[i] = (double)whole->dim[i];
        stride[i] = step;
        step *= size[i];
    }
    const mst_value index = mst_cast(indices, MST_I64), none = mst_scalar(graph, MST_I64, -1);
    const mst_value sizes = mst_values(graph, MST_I64, MST_SHAPE(k), size);
    const mst_value inside = mst_logical_and(mst_greater(index, none), mst_less(index, sizes));
    const mst_value steps = mst_mul(index, mst_values(graph, MST_I64, MST_SHAPE(k), stride));
    return mst_select(mst_reduce_all(inside, .axes = MST_AXES(-1)), mst_reduce_sum(steps, .axes = MST_AXES(-1)), none);
}
