#include "support/pipeline.h"

#include <stddef.h>

mst_dataset *pipeline_numbers(int64_t num_rows) {
    mst_tensor *tensor[2] = {NULL, NULL};
    mst_dataset *dataset = NULL;
    mst_status status = mst_tensor_create(MST_I64, MST_SHAPE(num_rows, 2), &tensor[0]);
    if (!status) status = mst_tensor_create(MST_U8, MST_SHAPE(num_rows), &tensor[1]);
    for (int64_t i = 0; !status && i < num_rows; i++) {
        ((int64_t *)mst_tensor_data(tensor[0]))[2 * i] = 10 * i;
        ((int64_t *)mst_tensor_data(tensor[0]))[2 * i + 1] = 10 * i + 1;
        ((uint8_t *)mst_tensor_data(tensor[1]))[i] = (uint8_t)(i % 251);
    }
    if (!status) status = mst_dataset_from_tensors(tensor, 2, &dataset);
    mst_tensor_release(tensor[0]);
    mst_tensor_release(tensor[1]);
    return status ? NULL : dataset;
}

mst_status pipeline_replace(mst_dataset **dataset, mst_status status, mst_dataset *const *made) {
    if (status) return status;
    mst_dataset_release(*dataset);
    *dataset = *made;
    return MST_OK;
}

static int64_t collect(mst_iterator *it, int64_t stop, int64_t *rows, int64_t max, int64_t *num_elements) {
    const mst_batch *batch;
    int64_t count = 0;
    *num_elements = 0;
    while (count < max && *num_elements < stop) {
        if (mst_iterator_next(it, &batch)) return -1;
        if (!batch) break;
        ++*num_elements;
        for (int64_t i = 0; i < mst_batch_size(batch) && count < max; i++) {
            int64_t value[2];
            uint8_t small;
            if (mst_batch_copy(batch, 0, i, 1, value) || mst_batch_copy(batch, 1, i, 1, &small)) return -1;
            if (value[1] != value[0] + 1 || small != value[0] / 10 % 251) return -1;
            rows[count++] = value[0] / 10;
        }
    }
    return count;
}

int64_t pipeline_read(mst_iterator *it, int64_t stop, int64_t *rows, int64_t max) {
    int64_t elements;
    return collect(it, stop, rows, max, &elements);
}

int64_t pipeline_rows(mst_dataset *dataset, int64_t epoch, int64_t *rows, int64_t max, int64_t *num_elements) {
    mst_iterator *it;
    int64_t elements;
    if (mst_iterator_create(dataset, epoch, &it)) return -1;
    int64_t count = collect(it, INT64_MAX, rows, max, &elements);
    if (num_elements) *num_elements = elements;
    mst_iterator_destroy(it);
    return count;
}

int64_t pipeline_rows_after(mst_dataset *dataset, int64_t epoch, int64_t n, int64_t *rows, int64_t max) {
    mst_iterator *it;
    int64_t elements;
    if (mst_iterator_create(dataset, epoch, &it)) return -1;
    int64_t count = mst_iterator_skip(it, n) ? -1 : collect(it, INT64_MAX, rows, max, &elements);
    mst_iterator_destroy(it);
    return count;
}

mst_tensor *pipeline_column(mst_dataset *dataset, int i) {
    mst_dataset *all = NULL;
    mst_iterator *it = NULL;
    const mst_batch *batch = NULL;
    mst_tensor *tensor = NULL;
    mst_status status = mst_dataset_batch(dataset, 1000, false, &all);
    if (!status) status = mst_iterator_create(all, 0, &it);
    if (!status) status = mst_iterator_next(it, &batch);
    if (!status && batch && mst_batch_tensor(batch, i, &tensor)) tensor = NULL;
    mst_iterator_destroy(it);
    mst_dataset_release(all);
    return tensor;
}

int64_t pipeline_position_size(const mst_iterator *it) {
    mst_tensor *position;
    if (mst_iterator_save(it, &position)) return -1;
    const int64_t count = mst_tensor_count(position);
    mst_tensor_release(position);
    return count;
}
