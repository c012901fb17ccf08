/* Iterators: a cursor says which rows come next, and a row_fetch turns them into values when a batch is copied. A batch
 * is valid until the next call. Then its rows are forgotten, so that a source that reads forward can free their
 * records.
 *
 * A saved position is a tensor of i64: magic number, version, a fingerprint of the chain of datasets, and the numbers
 * that each cursor adds. Restoring it in another chain is an error. */
#include <stdlib.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "data/cursors/cursor.h"
#include "data/row_fetch.h"
#include "tensor/string.h"

struct mst_batch {
    const mst_dataset *dataset;
    mst_row_fetch *fetch;
    mst_element element;
    mst_row_range wanted; /* rows that can be copied */
};

enum { STATE_MAGIC = 0x6d757374, STATE_VERSION = 2 };

struct mst_iterator {
    mst_dataset *dataset;
    mst_cursor *cursor;
    mst_batch batch;
    int64_t row; /* the element, if the dataset has no batches */
};

/* Makes an iterator that is not started. */
static mst_status iterator_open(mst_dataset *dataset, mst_iterator **out) {
    mst_iterator *it = *out = calloc(1, sizeof *it);
    if (!it) return MST_NO_MEMORY("for an iterator");
    it->dataset = mst_dataset_retain(dataset);
    it->batch.dataset = dataset;
    MST_TRY(mst_cursor_open(dataset, &it->cursor));
    return mst_row_fetch_create(dataset, it->cursor, &it->batch.fetch);
}

static mst_status opened(mst_iterator *it, mst_status status, mst_iterator **out) {
    if (status)
        mst_iterator_destroy(it);
    else
        *out = it;
    return status;
}

mst_status mst_iterator_create_window(mst_dataset *dataset, int64_t epoch, mst_shard_window window,
                                      mst_iterator **out) {
    mst_iterator *it;
    *out = NULL;
    MST_TRY(mst_dataset_check(dataset));
    MST_TRY(mst_dataset_want_least("iterator", "epoch", epoch, 0));
    mst_status status = iterator_open(dataset, &it);
    if (!status) mst_cursor_want(it->cursor, window);
    if (!status) status = it->cursor->type->start(it->cursor, epoch);
    return opened(it, status, out);
}

mst_status mst_iterator_create(mst_dataset *dataset, int64_t epoch, mst_iterator **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    return mst_iterator_create_window(dataset, epoch, (mst_shard_window){0}, out);
}

/* A hash of the chain of datasets, used to refuse the saved position of another chain. */
static int64_t fingerprint(const mst_dataset *dataset) {
    uint64_t hash = 0xcbf29ce484222325;
    for (; dataset; dataset = dataset->upstream) {
        const uint64_t numbers[] = {(uint64_t)dataset->cardinality, (uint64_t)dataset->batch_size,
                                    (uint64_t)dataset->num_components};
        for (const char *c = dataset->type->name; *c; c++) hash = (hash ^ (uint8_t)*c) * 0x100000001b3;
        for (int i = 0; i < 3; i++) hash = (hash ^ numbers[i]) * 0x100000001b3;
    }
    return (int64_t)(hash >> 1); /* numbers of a position are not negative */
}

mst_status mst_iterator_save(const mst_iterator *iterator, mst_tensor **out) {
    if (MST_IS_NULL(iterator) || MST_IS_NULL(out)) return MST_INVALID;
    mst_bookmark bookmark = {0};
    *out = NULL;
    mst_bookmark_put(&bookmark, STATE_MAGIC);
    mst_bookmark_put(&bookmark, STATE_VERSION);
    mst_bookmark_put(&bookmark, fingerprint(iterator->dataset));
    mst_cursor_save(iterator->cursor, &bookmark);
    mst_status status = bookmark.no_memory ? MST_NO_MEMORY("for the position of an iterator")
                                           : mst_tensor_copy(MST_I64, MST_SHAPE(bookmark.count), bookmark.number, out);
    mst_bookmark_free(&bookmark);
    return status;
}

static mst_status iterator_restore(mst_iterator *it, mst_bookmark *bookmark) {
    int64_t number;
    MST_TRY(mst_bookmark_take(bookmark, STATE_MAGIC, STATE_MAGIC, &number));
    MST_TRY(mst_bookmark_take(bookmark, 0, INT64_MAX, &number));
    if (number != STATE_VERSION)
        return MST_FAIL(MST_INVALID,
                        "iterator: the saved position is of version %lld, and this Muster reads version %d: begin the "
                        "epoch again",
                        (long long)number, STATE_VERSION);
    MST_TRY(mst_bookmark_take(bookmark, 0, INT64_MAX, &number));
    if (number != fingerprint(it->dataset))
        return MST_FAIL(MST_INVALID, "iterator: the saved position is of another dataset: build it as it was");
    MST_TRY(mst_cursor_restore(it->cursor, bookmark));
    if (bookmark->at < bookmark->count)
        return MST_FAIL(MST_CORRUPT, "iterator: the saved position has %lld numbers too many",
                        (long long)(bookmark->count - bookmark->at));
    mst_cursor_settle(it->cursor);
    return MST_OK;
}

mst_status mst_iterator_restore(mst_dataset *dataset, const mst_tensor *position, mst_iterator **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(position) || MST_IS_NULL(out)) return MST_INVALID;
    mst_iterator *it;
    *out = NULL;
    MST_TRY(mst_dataset_check(dataset));
    if (mst_tensor_dtype(position) != MST_I64)
        return MST_FAIL(MST_INVALID, "iterator: the saved position is of %s, mst_iterator_save makes i64",
                        mst_dtype_name(mst_tensor_dtype(position)));
    mst_bookmark bookmark = {.number = mst_tensor_data(position), .count = mst_tensor_count(position)};
    mst_status status = iterator_open(dataset, &it);
    if (!status) status = iterator_restore(it, &bookmark);
    return opened(it, status, out);
}

void mst_iterator_destroy(mst_iterator *iterator) {
    if (!iterator) return;
    mst_row_fetch_destroy(iterator->batch.fetch);
    mst_cursor_destroy(iterator->cursor);
    mst_dataset_release(iterator->dataset);
    free(iterator);
}

/* Forgets the current element, which is valid only until the next call. */
static void drop_element(mst_iterator *it) {
    mst_element *element = &it->batch.element;
    if (element->rows && !element->memory) mst_cursor_forget(it->cursor, element->rows, element->count);
    mst_row_fetch_forget_strings(it->batch.fetch);
    element->count = 0;
    it->batch.wanted.count = 0;
}

mst_status mst_iterator_next(mst_iterator *iterator, const mst_batch **batch) {
    if (MST_IS_NULL(iterator) || MST_IS_NULL(batch)) return MST_INVALID;
    mst_element *element = &iterator->batch.element;
    mst_cursor *cursor = iterator->cursor;
    *batch = NULL;
    drop_element(iterator);
    if (iterator->dataset->batch_size) {
        MST_TRY(cursor->type->batch(cursor, element));
    } else {
        *element = (mst_element){.rows = &iterator->row};
        MST_TRY(cursor->type->rows(cursor, &iterator->row, 1, &element->count));
    }
    iterator->batch.wanted = mst_shard_window_rows(cursor->window, element->count);
    if (element->count) *batch = &iterator->batch;
    return MST_OK;
}

mst_status mst_iterator_skip(mst_iterator *iterator, int64_t n) {
    if (MST_IS_NULL(iterator)) return MST_INVALID;
    int64_t skipped;
    MST_TRY(mst_dataset_want_least("iterator", "number of elements to skip", n, 0));
    drop_element(iterator);
    return iterator->cursor->type->skip(iterator->cursor, n, &skipped);
}

void mst_iterator_stop(mst_iterator *iterator) {
    mst_cursor_stop(iterator->cursor);
}

int64_t mst_iterator_num_corrupt(const mst_iterator *iterator) {
    return iterator->dataset->num_corrupt + mst_cursor_base(iterator->cursor)->num_corrupt;
}

int64_t mst_batch_size(const mst_batch *batch) {
    if (MST_IS_NULL(batch)) return 0;
    return batch->element.count;
}

int mst_batch_num_components(const mst_batch *batch) {
    return batch->dataset->num_components;
}

int64_t mst_batch_grain(const mst_batch *batch, int component) {
    return mst_row_fetch_grain(batch->fetch, &batch->element, component);
}

int64_t mst_batch_row(const mst_batch *batch, int64_t i) {
    const mst_element *element = &batch->element;
    const mst_dataset *source = batch->dataset;
    while (source->upstream) source = source->upstream;
    if (element->memory || source->type->values) return -1;
    return element->rows ? mst_row_number(element->rows[i]) : i;
}

static mst_status check_component(const mst_batch *batch, int component) {
    if (component >= 0 && component < batch->dataset->num_components) return MST_OK;
    return MST_FAIL(MST_INVALID, "batch: component %d, the dataset has 0 to %d", component,
                    batch->dataset->num_components - 1);
}

static mst_status check_rows(const mst_batch *batch, int64_t first_row, int64_t num_rows) {
    const int64_t first = batch->wanted.first, end = first + batch->wanted.count, size = batch->element.count;
    if (first_row >= first && num_rows >= 0 && first_row <= end - num_rows) return MST_OK;
    if (batch->wanted.count < size)
        return MST_FAIL(
            MST_INVALID,
            "batch: %lld rows from row %lld on, this task has the %lld from row %lld on of the batch's %lld",
            (long long)num_rows, (long long)first_row, (long long)batch->wanted.count, (long long)first,
            (long long)size);
    return MST_FAIL(MST_INVALID, "batch: %lld rows from row %lld on, the batch has %lld", (long long)num_rows,
                    (long long)first_row, (long long)size);
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

mst_status mst_batch_record(const mst_batch *batch, int64_t i, mst_record *record) {
    if (MST_IS_NULL(batch) || MST_IS_NULL(record)) return MST_INVALID;
    *record = (mst_record){0};
    MST_TRY(check_rows(batch, i, 1));
    return mst_row_fetch_record(batch->fetch, &batch->element, i, record);
}

mst_shape mst_batch_shape(const mst_batch *batch, int component) {
    mst_shape shape = mst_shape_make(1, (const int64_t[]){-1});
    if (MST_IS_NULL(batch) || check_component(batch, component)) return shape;
    const mst_shape row = mst_dataset_row_shape(batch->dataset, &batch->element, component);
    if (!batch->dataset->batch_size) return row;
    shape.ndim = row.ndim + 1;
    shape.dim[0] = batch->element.count;
    for (int i = 0; i < row.ndim; i++) shape.dim[i + 1] = row.dim[i];
    return shape;
}

static mst_status copy_strings(const mst_batch *batch, int component, mst_tensor *tensor) {
    const int64_t count = mst_tensor_count(tensor);
    mst_string *string = calloc((size_t)count + 1, sizeof *string);
    if (!string) return MST_NO_MEMORY("for %lld strings", (long long)count);
    mst_status status = mst_batch_copy(batch, component, 0, batch->element.count, string);
    if (!status) status = mst_tensor_copy_strings(tensor, string);
    free(string);
    return status;
}

typedef struct wanted {
    int component;
    mst_tensor **out;
} wanted;

static mst_status copy_array(const mst_array *in, void *context) {
    const wanted *w = context;
    const mst_array *array = &in[w->component];
    return mst_tensor_copy(array->dtype, array->shape, array->data, w->out);
}

mst_status mst_batch_tensor(const mst_batch *batch, int component, mst_tensor **out) {
    if (MST_IS_NULL(batch) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    MST_TRY(check_component(batch, component));
    const mst_dataset *d = batch->dataset;
    if (!d->batch_size && mst_shape_count(d->row[component].shape) < 0)
        return mst_row_fetch_look(batch->fetch, "batch", &batch->element, 0, copy_array, &(wanted){component, out});
    MST_TRY(mst_dataset_want_values(d, component, "batch"));
    MST_TRY(mst_tensor_create(d->row[component].dtype, mst_batch_shape(batch, component), out));
    mst_status status = d->row[component].dtype == MST_STRING
                            ? copy_strings(batch, component, *out)
                            : mst_batch_copy(batch, component, 0, batch->element.count, mst_tensor_data(*out));
    if (status) {
        mst_tensor_release(*out);
        *out = NULL;
    }
    return status;
}
