#include "data/row_hash.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 64-bit FNV-1a */
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

enum { BLOCK = 4096 };

/* Adds the block of FILE that begins at OFFSET, or at 0 if OFFSET is negative, to the hash. */
static uint64_t hash_block(uint64_t hash, int file, off_t offset) {
    char data[BLOCK];
    const ssize_t size = pread(file, data, sizeof data, offset > 0 ? offset : 0);
    return hash_bytes(hash, data, size > 0 ? (size_t)size : 0);
}

static uint64_t hash_file(uint64_t hash, const char *path) {
    const char *name = strrchr(path, '/');
    struct stat info;
    name = name ? name + 1 : path;
    hash = hash_bytes(hash, name, strlen(name) + 1);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return hash;
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode)) {
        const int64_t size = info.st_size;
        const off_t last = info.st_size - BLOCK;
        hash = hash_bytes(hash, &size, sizeof size);
        hash = hash_block(hash_block(hash_block(hash, file, 0), file, last / 2), file, last);
    }
    close(file);
    return hash;
}

uint64_t mst_hash_files(const char *const *path, int64_t n) {
    uint64_t hash = hash_bytes(UINT64_C(0xcbf29ce484222325), &n, sizeof n);
    for (int64_t i = 0; i < n && i < MST_HASHED_FILES; i++) hash = hash_file(hash, path[i]);
    return hash;
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
