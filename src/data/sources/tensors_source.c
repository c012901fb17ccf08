/* Source: rows of tensors in memory. */
#include <stdlib.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "data/cursors/counting_cursor.h"
#include "data/dataset.h"
#include "data/nested.h"

typedef struct tensors {
    mst_dataset base;
    mst_tensor **component;
} tensors;

static void tensors_source_destroy(mst_dataset *dataset) {
    tensors *d = (tensors *)dataset;
    for (int i = 0; d->component && i < dataset->num_components; i++) mst_tensor_release(d->component[i]);
    free(d->component);
}

static const void *tensors_source_memory(const mst_dataset *source, int i) {
    return mst_tensor_data(((const tensors *)source)->component[i]);
}

static const mst_dataset_type type = {.name = "from_tensors",
                                      .destroy = tensors_source_destroy,
                                      .open = mst_counting_cursor_open,
                                      .memory = tensors_source_memory};

static mst_status tensors_source_check(mst_tensor *const *components, int n) {
    if (n < 1) return MST_FAIL(MST_INVALID, "from_tensors: %d components, at least 1 is needed", n);
    for (int i = 0; i < n; i++) {
        if (!components[i]) return MST_FAIL(MST_INVALID, "from_tensors: component %d is NULL", i);
        mst_shape shape = mst_tensor_shape(components[i]), first = mst_tensor_shape(components[0]);
        if (shape.ndim == 0)
            return MST_FAIL(MST_INVALID,
                            "from_tensors: component %d is a scalar: rows are along dimension 0, give it one", i);
        if (shape.dim[0] == 0) return MST_FAIL(MST_INVALID, "from_tensors: component %d has no rows", i);
        if (shape.dim[0] != first.dim[0])
            return MST_FAIL(MST_INVALID,
                            "from_tensors: component %d has %lld rows, component 0 has %lld: they must agree", i,
                            (long long)shape.dim[0], (long long)first.dim[0]);
    }
    return MST_OK;
}

mst_status mst_dataset_from_tensors(mst_tensor *const *components, int n, mst_dataset **out) {
    if ((n > 0 && MST_IS_NULL(components)) || MST_IS_NULL(out)) return MST_INVALID;
    tensors *d;
    *out = NULL;
    MST_TRY(tensors_source_check(components, n));
    MST_TRY(mst_dataset_alloc(&type, sizeof *d, n, &d));
    if (!(d->component = calloc((size_t)n, sizeof *d->component))) {
        mst_dataset_release(&d->base);
        return MST_NO_MEMORY("for a dataset (from_tensors)");
    }
    for (int i = 0; i < n; i++) {
        mst_shape shape = mst_tensor_shape(components[i]);
        d->component[i] = mst_tensor_retain(components[i]);
        d->base.row[i] = (mst_spec){mst_tensor_dtype(components[i]), mst_shape_make(shape.ndim - 1, shape.dim + 1)};
        d->base.cardinality = shape.dim[0];
    }
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_from_tensors(mst_tensor *const *components, int n) {
    MST_DATASET_OPEN(mst_dataset_from_tensors(components, n, &out));
}
