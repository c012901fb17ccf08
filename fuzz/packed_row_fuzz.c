/* clang -fsanitize=fuzzer,address,undefined: rows as a cache in a file keeps them. */
#include <stdlib.h>

#include "data/transforms/packed_row.h"
#include "memory.h"

enum { COMPONENTS = 6 };

static mst_status nothing(const mst_array *in, mst_array *out, void *context) {
    (void)in, (void)out, (void)context;
    return MST_OK;
}

/* A dataset of one row, the bytes at DATA. */
static mst_dataset *of_bytes(const uint8_t *data, size_t size) {
    const mst_string string = {(const char *)data, size};
    mst_tensor *tensor;
    mst_dataset *d;
    if (mst_tensor_copy(MST_STRING, MST_SHAPE(1), &string, &tensor)) abort();
    if (mst_dataset_from_tensors(&tensor, 1, &d)) abort();
    mst_tensor_release(tensor);
    return d;
}

/* Rows that are unpacked are packed into the same bytes. */
static void check_row(mst_dataset *d, const uint8_t *data, size_t size) {
    mst_iterator *it;
    const mst_batch *batch;
    mst_string again;
    if (mst_iterator_create(d, 0, &it) || mst_iterator_next(it, &batch)) abort();
    if (mst_batch_copy(batch, 0, 0, 1, &again) == MST_OK &&
        !mst_string_equal(again, (mst_string){(const char *)data, size}))
        abort();
    mst_iterator_destroy(it);
}

static void read_input(const uint8_t *data, size_t size) {
    static const mst_dataset_type type = {.name = "unpack"};
    const mst_spec specs[COMPONENTS] = {{MST_I64, MST_SHAPE(2)},      {MST_STRING, MST_SCALAR},
                                        {MST_U8, MST_SHAPE(-1)},      {MST_STRING, MST_SHAPE(-1, 2)},
                                        {MST_F32, MST_SHAPE(-1, -1)}, {MST_BF16, MST_SCALAR}};
    mst_dataset *packed = of_bytes(data, size), *like, *rows, *again;
    if (mst_dataset_map(packed, nothing, NULL, specs, COMPONENTS, &like)) abort();
    if (mst_dataset_unpack(&type, packed, like, &rows) || mst_dataset_pack(rows, &again)) abort();
    check_row(again, data, size);
    mst_dataset_release(again);
    mst_dataset_release(rows);
    mst_dataset_release(like);
    mst_dataset_release(packed);
}

FUZZ(read_input, 64, 256 << 10)
