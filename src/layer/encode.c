#include "layer/encode.h"

#include "muster/ops.h"

const char *const mst_output_mode_names[] = {"default", "int", "one_hot", "multi_hot", "count", NULL};

/* Removes a last dimension of 1, as Keras does in one-hot outputs. */
static mst_value squeeze_last(mst_value index) {
    const mst_shape shape = mst_value_spec(index).shape;
    const int last = shape.ndim - 1;
    return last > 0 && shape.dim[last] == 1 ? mst_squeeze(index, .axes = MST_AXES(last)) : index;
}

mst_value mst_layer_encode(mst_value index, mst_output_mode mode, int64_t depth) {
    if (mode == MST_OUTPUT_MODE_INT) return index;
    if (mode == MST_OUTPUT_MODE_ONE_HOT) return mst_one_hot(squeeze_last(index), .depth = depth);
    const mst_value rows = mst_one_hot(index, .depth = depth);
    if (mst_value_spec(index).shape.ndim < 2) return rows; /* one category per example */
    if (mode == MST_OUTPUT_MODE_COUNT) return mst_reduce_sum(rows, .axes = MST_AXES(1));
    return mst_reduce_max(rows, .axes = MST_AXES(1));
}
