#include "data/row_hash.h"

/* FNV-1a of 64 bits */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size) {
    const unsigned char *at = data;
    for (size_t i = 0; i < size; i++) hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static mst_status hash_component(const mst_batch *row, int component, uint64_t *hash) {
    mst_tensor *tensor;
    MST_TRY(mst_batch_tensor(row, component, &tensor));
    const int64_t count = mst_shape_count(mst_tensor_shape(tensor));
    *hash = hash_bytes(*hash, &count, sizeof count);
    if (mst_tensor_dtype(tensor) != MST_STRING) {
        *hash = hash_bytes(*hash, mst_tensor_data(tensor), mst_tensor_bytes(tensor));
    } else {
        const mst_string *text = mst_tensor_data(tensor);
        for (int64_t i = 0; i < count; i++) *hash = hash_bytes(*hash, text[i].data, text[i].length);
    }
    mst_tensor_release(tensor);
    return MST_OK;
}

mst_status mst_dataset_hash_rows(mst_dataset *dataset, uint64_t *hash, int *rows) {
    mst_iterator *iterator;
    const mst_batch *row;
    mst_status status = MST_OK;
    MST_TRY(mst_iterator_create(dataset, 0, &iterator));
    *hash = UINT64_C(0xcbf29ce484222325);
    for (*rows = 0; *rows < MST_HASHED_ROWS && !status; ++*rows) {
        status = mst_iterator_next(iterator, &row);
        if (status || !row) break;
        for (int c = 0; c < mst_dataset_num_components(dataset) && !status; c++) status = hash_component(row, c, hash);
    }
    mst_iterator_destroy(iterator);
    return status;
}
