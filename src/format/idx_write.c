/* Writes IDX files, not compressed. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/no_memory.h"
#include "format/byte_order.h"
#include "format/idx.h"

static int code_of(mst_dtype dtype) {
    switch (dtype) {
        case MST_U8: return 0x08;
        case MST_I32: return 0x0c;
        case MST_F32: return 0x0d;
        case MST_F64: return 0x0e;
        default: return 0;
    }
}

static void put32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (24 - 8 * i));
}

mst_status mst_idx_write(const char *path, const mst_tensor *tensor) {
    uint8_t header[4 + 4 * MST_MAX_NDIM] = {0};
    const mst_shape shape = mst_tensor_shape(tensor);
    const mst_dtype dtype = mst_tensor_dtype(tensor);
    header[2] = (uint8_t)code_of(dtype);
    header[3] = (uint8_t)shape.ndim;
    if (!header[2])
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': IDX cannot hold %s: u8, i32, f32 and f64 are possible", path,
                        mst_dtype_name(dtype));
    for (int i = 0; i < shape.ndim; i++) {
        if (shape.dim[i] > UINT32_MAX)
            return MST_FAIL(MST_UNIMPLEMENTED, "'%s': dimension %d is too large for IDX", path, i);
        put32(header + 4 + 4 * i, (uint32_t)shape.dim[i]);
    }
    const size_t bytes = mst_tensor_bytes(tensor);
    void *copy = malloc(bytes + 1);
    if (!copy) return MST_NO_MEMORY("for writing '%s'", path);
    if (bytes) memcpy(copy, mst_tensor_data(tensor), bytes);
    mst_swap_big_endian(copy, mst_tensor_count(tensor), mst_dtype_size(dtype));
    const mst_file_part parts[] = {{header, 4 + 4 * (size_t)shape.ndim}, {copy, bytes}};
    mst_status status = mst_file_write_parts(path, parts, 2);
    free(copy);
    return status;
}
