#include <stdio.h>
#include <string.h>

#include "base/argument.h"
#include "muster/tensor.h"

mst_shape mst_shape_make(int ndim, const int64_t *dim) {
    if (ndim > 0 && MST_IS_NULL(dim)) return (mst_shape){.ndim = -1};
    mst_shape shape = {.ndim = ndim};
    for (int i = 0; i < ndim && i < MST_MAX_NDIM; i++) shape.dim[i] = dim[i];
    return shape;
}

/* The number of elements of `dim` that are set. ndim is larger if mst_shape_make was given too many dimensions. */
static int num_dims(const mst_shape *shape) {
    return shape->ndim < MST_MAX_NDIM ? shape->ndim : MST_MAX_NDIM;
}

int64_t mst_shape_count(mst_shape shape) {
    int64_t count = 1;
    bool empty = false;
    for (int i = 0; i < num_dims(&shape); i++) {
        if (shape.dim[i] < 0) return -1;
        empty |= shape.dim[i] == 0;
        if (__builtin_mul_overflow(count, shape.dim[i], &count)) count = INT64_MAX;
    }
    return empty ? 0 : count;
}

bool mst_shape_equal(mst_shape a, mst_shape b) {
    return a.ndim == b.ndim && (a.ndim <= 0 || memcmp(a.dim, b.dim, (size_t)num_dims(&a) * sizeof *a.dim) == 0);
}

char *mst_shape_print(mst_shape shape, char *text, size_t size) {
    if (MST_IS_NULL(text)) return NULL;
    size_t used = (size_t)snprintf(text, size, "[");
    for (int i = 0; i < num_dims(&shape) && used < size; i++) {
        const char *comma = i ? ", " : "";
        if (shape.dim[i] < 0)
            used += (size_t)snprintf(text + used, size - used, "%s?", comma);
        else
            used += (size_t)snprintf(text + used, size - used, "%s%lld", comma, (long long)shape.dim[i]);
    }
    if (used < size) snprintf(text + used, size - used, "]");
    return text;
}
