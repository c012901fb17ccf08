#include "graph/spec.h"

#include <stdio.h>

mst_spec mst_spec_of(const mst_tensor *tensor) {
    return (mst_spec){mst_tensor_dtype(tensor), mst_tensor_shape(tensor)};
}

bool mst_spec_equal(const mst_spec *a, const mst_spec *b) {
    return a->dtype == b->dtype && mst_shape_equal(a->shape, b->shape);
}

bool mst_spec_agrees(const mst_spec *a, const mst_spec *b) {
    return a->dtype == b->dtype && a->shape.ndim == b->shape.ndim &&
           mst_dims_agree(&a->shape, &b->shape, a->shape.ndim);
}

bool mst_dims_agree(const mst_shape *a, const mst_shape *b, int ndim) {
    for (int i = 0; i < ndim; i++)
        if (a->dim[i] >= 0 && b->dim[i] >= 0 && a->dim[i] != b->dim[i]) return false;
    return true;
}

char *mst_spec_print(const mst_spec *spec, char *text, size_t size) {
    char shape[MST_SHAPE_TEXT];
    snprintf(text, size, "%s%s", mst_dtype_name(spec->dtype), mst_shape_print(spec->shape, shape, sizeof shape));
    return text;
}
