/* Chains of datasets, each of which retains its upstream. Properties that a dataset does not define itself (rows,
 * classes, schema) are taken from its upstream, and so on up to the source. */
#include "data/dataset.h"

#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"

mst_dataset *mst_dataset_retain(mst_dataset *dataset) {
    if (MST_IS_NULL(dataset)) return NULL;
    atomic_fetch_add_explicit(&dataset->references, 1, memory_order_relaxed);
    return dataset;
}

void mst_dataset_release(mst_dataset *dataset) {
    while (dataset && atomic_fetch_sub_explicit(&dataset->references, 1, memory_order_acq_rel) == 1) {
        mst_dataset *upstream = dataset->upstream;
        if (dataset->type->destroy) dataset->type->destroy(dataset);
        free(dataset->row);
        free(dataset);
        dataset = upstream;
    }
}

mst_status mst_dataset_check(const mst_dataset *dataset) {
    if (MST_IS_NULL(dataset)) return MST_INVALID;
    return dataset->type->check ? dataset->type->check(dataset) : MST_OK;
}

mst_status mst_dataset_alloc(const mst_dataset_type *type, size_t size, int num_components, void *out) {
    mst_dataset **result = out;
    mst_dataset *dataset = calloc(1, size);
    mst_spec *row = calloc((size_t)num_components, sizeof *row);
    *result = NULL;
    if (!dataset || !row) {
        free(dataset);
        free(row);
        return MST_NO_MEMORY("for a dataset (%s)", type->name);
    }
    dataset->type = type;
    dataset->row = row;
    dataset->num_components = num_components;
    atomic_init(&dataset->references, 1);
    *result = dataset;
    return MST_OK;
}

mst_status mst_dataset_derive_rows(const mst_dataset_type *type, size_t size, mst_dataset *upstream,
                                   const mst_spec *row, int num_components, void *out) {
    mst_dataset **result = out;
    MST_TRY(mst_dataset_check(upstream));
    MST_TRY(mst_dataset_alloc(type, size, num_components, out));
    mst_dataset *dataset = *result;
    memcpy(dataset->row, row, (size_t)num_components * sizeof *row);
    dataset->upstream = mst_dataset_retain(upstream);
    dataset->cardinality = upstream->cardinality;
    dataset->batch_size = upstream->batch_size;
    dataset->even = upstream->even;
    dataset->num_corrupt = upstream->num_corrupt;
    dataset->first_corrupt = upstream->first_corrupt;
    return MST_OK;
}

mst_status mst_dataset_derive(const mst_dataset_type *type, size_t size, mst_dataset *upstream, void *out) {
    return mst_dataset_derive_rows(type, size, upstream, upstream->row, upstream->num_components, out);
}

mst_status mst_dataset_want_rows(const mst_dataset *dataset, const char *transform) {
    MST_TRY(mst_dataset_check(dataset));
    if (dataset->batch_size == 0) return MST_OK;
    return MST_FAIL(MST_INVALID, "%s: works on rows, and the dataset has batches: put %s before batch", transform,
                    transform);
}

bool mst_dataset_has_values(const mst_dataset *dataset, int i) {
    if (mst_shape_count(dataset->row[i].shape) >= 0) return true;
    while (dataset && !dataset->type->pads) dataset = dataset->upstream;
    return dataset;
}

mst_status mst_dataset_want_values(const mst_dataset *dataset, int i, const char *transform) {
    if (mst_dataset_has_values(dataset, i)) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "%s: component %d has rows of different lengths: pad it (mst_dataset_padded_batch), or parse it "
                    "first (mst_dataset_parse_example, mst_dataset_map)",
                    transform, i);
}

mst_status mst_dataset_want_least(const char *transform, const char *what, int64_t n, int64_t least) {
    if (n >= least) return MST_OK;
    return MST_FAIL(MST_INVALID, "%s: %s is %lld, it must be at least %lld", transform, what, (long long)n,
                    (long long)least);
}

int64_t mst_dataset_rows_before(const mst_dataset *dataset, int64_t n) {
    if (dataset->batch_size == 0) return n;
    while (!dataset->type->rows_before) dataset = dataset->upstream;
    return dataset->type->rows_before(dataset, n);
}

int64_t mst_dataset_num_rows(const mst_dataset *dataset) {
    if (MST_IS_NULL(dataset)) return 0;
    return dataset->cardinality < 0 ? dataset->cardinality : mst_dataset_rows_before(dataset, dataset->cardinality);
}

int64_t mst_dataset_cardinality(const mst_dataset *dataset) {
    if (MST_IS_NULL(dataset)) return 0;
    return dataset->cardinality;
}

int64_t mst_dataset_most_rows(const mst_dataset *dataset) {
    const mst_dataset *rows = dataset;
    while (rows->batch_size) rows = rows->upstream;
    int64_t most = dataset->batch_size;
    if (rows->cardinality >= 0 && most > rows->cardinality) most = rows->cardinality;
    return most < 1 ? 1 : most;
}

bool mst_dataset_makes_rows(const mst_dataset *dataset) {
    for (; dataset && !dataset->type->makes_ahead; dataset = dataset->upstream)
        if ((dataset->stage && !dataset->stage->convert) || dataset->type->read || dataset->type->values) return true;
    return false;
}

int mst_dataset_num_components(const mst_dataset *dataset) {
    if (MST_IS_NULL(dataset)) return 0;
    return dataset->num_components;
}

int64_t mst_dataset_num_corrupt(const mst_dataset *dataset) {
    if (MST_IS_NULL(dataset)) return 0;
    return dataset->num_corrupt;
}

const char *mst_dataset_first_corrupt(const mst_dataset *dataset) {
    if (MST_IS_NULL(dataset)) return NULL;
    return dataset->first_corrupt;
}

int64_t mst_dataset_files_left_out(const mst_dataset *dataset, mst_files_left_out *out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return 0;
    *out = (mst_files_left_out){0};
    while (dataset->upstream && !dataset->type->left_out) dataset = dataset->upstream;
    if (dataset->type->left_out) *out = *dataset->type->left_out(dataset);
    return out->no_pictures + out->hidden + out->empty + out->broken_links;
}

size_t mst_dataset_row_bytes(const mst_dataset *dataset, int i) {
    const int64_t count = mst_shape_count(dataset->row[i].shape);
    return count < 0 ? 0 : (size_t)count * mst_dtype_size(dataset->row[i].dtype);
}

/* The dataset's shape is used if it is known. If not, ELEMENT has the shape: then there is no map between the dataset
 * and the source of ELEMENT, so that component I is the same in both. */
mst_shape mst_dataset_row_shape(const mst_dataset *dataset, const mst_element *element, int i) {
    const mst_shape shape = dataset->row[i].shape;
    return element && element->shape && mst_shape_count(shape) < 0 ? element->shape[i] : shape;
}

mst_spec mst_dataset_spec(const mst_dataset *dataset, int i) {
    if (MST_IS_NULL(dataset)) return (mst_spec){0};
    if (i < 0 || i >= dataset->num_components) return (mst_spec){.dtype = MST_NO_DTYPE};
    mst_spec spec = dataset->row[i];
    if (dataset->batch_size == 0) return spec;
    memmove(spec.shape.dim + 1, spec.shape.dim, (size_t)spec.shape.ndim * sizeof *spec.shape.dim);
    spec.shape.dim[0] = dataset->even ? dataset->batch_size : -1;
    spec.shape.ndim++;
    return spec;
}

const char *const *mst_dataset_classes(const mst_dataset *dataset, int i, int64_t *n) {
    *n = 0;
    for (; dataset; dataset = dataset->upstream) {
        if (dataset->type->classes) return dataset->type->classes(dataset, i, n);
        if (dataset->stage && dataset->stage->map) break;
    }
    return NULL;
}

const char *mst_dataset_schema(const mst_dataset *dataset) {
    if (MST_IS_NULL(dataset)) return NULL;
    for (; dataset; dataset = dataset->upstream) {
        if (dataset->type->schema) return dataset->type->schema(dataset);
        if (dataset->stage && dataset->stage->map) break;
    }
    return NULL;
}

int64_t mst_dataset_num_classes(const mst_dataset *dataset, int component) {
    int64_t n;
    if (MST_IS_NULL(dataset)) return 0;
    return mst_dataset_classes(dataset, component, &n) ? n : 0;
}

const char *mst_dataset_class_name(const mst_dataset *dataset, int component, int64_t i) {
    int64_t n;
    if (MST_IS_NULL(dataset)) return NULL;
    const char *const *name = mst_dataset_classes(dataset, component, &n);
    return name && i >= 0 && i < n ? name[i] : NULL;
}
