#include <stdlib.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "data/dataset.h"
#include "data/row_fetch.h"

struct mst_batch {
    const mst_dataset *dataset;
    mst_row_fetch *fetch;
    mst_element element;
};

struct mst_iterator {
    mst_dataset *dataset;
    mst_cursor *cursor;
    mst_batch batch;
    int64_t row; /* the element where the dataset has no batches */
};

mst_status mst_iterator_create(mst_dataset *dataset, int64_t epoch, mst_iterator **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    MST_TRY(mst_dataset_want_least("iterator", "epoch", epoch, 0));
    mst_iterator *it = calloc(1, sizeof *it);
    if (!it) return MST_NO_MEMORY("for an iterator");
    it->dataset = mst_dataset_retain(dataset);
    it->batch.dataset = dataset;
    mst_status status = mst_row_fetch_create(dataset, &it->batch.fetch);
    if (!status) status = mst_cursor_open(dataset, &it->cursor);
    if (!status) status = it->cursor->type->start(it->cursor, epoch);
    if (status) {
        mst_iterator_destroy(it);
        return status;
    }
    *out = it;
    return MST_OK;
}

void mst_iterator_destroy(mst_iterator *iterator) {
    if (!iterator) return;
    mst_cursor_destroy(iterator->cursor);
    mst_row_fetch_destroy(iterator->batch.fetch);
    mst_dataset_release(iterator->dataset);
    free(iterator);
}

mst_status mst_iterator_next(mst_iterator *iterator, const mst_batch **batch) {
    if (MST_IS_NULL(iterator) || MST_IS_NULL(batch)) return MST_INVALID;
    mst_element *element = &iterator->batch.element;
    mst_cursor *cursor = iterator->cursor;
    *batch = NULL;
    if (iterator->dataset->batch_size) {
        MST_TRY(cursor->type->batch(cursor, element));
    } else {
        *element = (mst_element){.rows = &iterator->row};
        MST_TRY(cursor->type->rows(cursor, &iterator->row, 1, &element->count));
    }
    if (element->count) *batch = &iterator->batch;
    return MST_OK;
}

mst_status mst_iterator_skip(mst_iterator *iterator, int64_t n) {
    if (MST_IS_NULL(iterator)) return MST_INVALID;
    int64_t skipped;
    MST_TRY(mst_dataset_want_least("iterator", "number of elements to skip", n, 0));
    return iterator->cursor->type->skip(iterator->cursor, n, &skipped);
}

int64_t mst_batch_size(const mst_batch *batch) {
    if (MST_IS_NULL(batch)) return 0;
    return batch->element.count;
}

int64_t mst_batch_grain(const mst_batch *batch, int component) {
    return mst_row_fetch_grain(batch->fetch, component, batch->element.count);
}

int64_t mst_batch_row(const mst_batch *batch, int64_t i) {
    const mst_element *element = &batch->element;
    if (element->memory) return -1;
    return element->rows ? element->rows[i] : i;
}

static mst_status check_component(const mst_batch *batch, int component) {
    if (component >= 0 && component < batch->dataset->num_components) return MST_OK;
    return MST_FAIL(MST_INVALID, "batch: component %d, the dataset has 0 to %d", component,
                    batch->dataset->num_components - 1);
}

static mst_status check_rows(const mst_batch *batch, int64_t first_row, int64_t num_rows) {
    if (first_row >= 0 && num_rows >= 0 && first_row <= batch->element.count - num_rows) return MST_OK;
    return MST_FAIL(MST_INVALID, "batch: %lld rows from row %lld on, the batch has %lld", (long long)num_rows,
                    (long long)first_row, (long long)batch->element.count);
}

mst_status mst_batch_copy(const mst_batch *batch, int component, int64_t first_row, int64_t num_rows, void *dst) {
    if (MST_IS_NULL(batch) || (num_rows > 0 && MST_IS_NULL(dst))) return MST_INVALID;
    MST_TRY(check_component(batch, component));
    MST_TRY(check_rows(batch, first_row, num_rows));
    return mst_row_fetch_copy(batch->fetch, &batch->element, component, first_row, num_rows, dst);
}

mst_status mst_batch_copy_all(const mst_batch *batch, int64_t first_row, int64_t num_rows, void *const *dst) {
    if (MST_IS_NULL(batch) || MST_IS_NULL(dst)) return MST_INVALID;
    MST_TRY(check_rows(batch, first_row, num_rows));
    return mst_row_fetch_copy_all(batch->fetch, &batch->element, first_row, num_rows, dst);
}

mst_status mst_batch_tensor(const mst_batch *batch, int component, mst_tensor **out) {
    if (MST_IS_NULL(batch) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    MST_TRY(check_component(batch, component));
    mst_spec spec = mst_dataset_spec(batch->dataset, component);
    if (batch->dataset->batch_size) spec.shape.dim[0] = batch->element.count;
    MST_TRY(mst_tensor_create(spec.dtype, spec.shape, out));
    mst_status status = mst_batch_copy(batch, component, 0, batch->element.count, mst_tensor_data(*out));
    if (status) {
        mst_tensor_release(*out);
        *out = NULL;
    }
    return status;
}
