#include "layer/affine.h"

#include "muster/ops.h"

static mst_value product(mst_value src, mst_value kernel, mst_value bias, mst_precision precision) {
    const mst_value y = mst_matmul(src, kernel, .precision = precision);
    return mst_value_is_none(bias) ? y : mst_add(y, bias);
}

/* Reshapes SRC to a matrix [all rows, features], and makes one product. If two or more dimensions before the last one
 * are not known, the result could not be reshaped back, so a batched product is made instead. */
mst_value mst_affine(mst_value src, mst_value kernel, mst_value bias, mst_precision precision) {
    mst_shape shape = mst_value_spec(src).shape;
    const int last = shape.ndim - 1;
    int num_open = 0;
    for (int i = 0; i < last; i++) num_open += shape.dim[i] < 0;
    if (last <= 1 || num_open > 1) return product(src, kernel, bias, precision);
    const mst_value y = product(mst_reshape(src, MST_SHAPE(-1, shape.dim[last])), kernel, bias, precision);
    shape.dim[last] = mst_value_spec(kernel).shape.dim[1];
    return mst_reshape(y, shape);
}
