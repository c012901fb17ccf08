/* Reads a file with one array. The whole file is read at once. Its size must agree with the header. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "format/byte_order.h"
#include "format/npy.h"

static mst_status npy_cut_off(const char *path) {
    return MST_FAIL(MST_CORRUPT, "'%s': ends within its header: the array is damaged, save it again", path);
}

/* Reads the header in the SIZE bytes at DATA; *USED is its size. */
static mst_status npy_read_header(const char *path, const unsigned char *data, size_t size, size_t *used,
                                  mst_npy *out) {
    int length_size;
    size_t length = 0;
    if (size < MST_NPY_PREFIX) return npy_cut_off(path);
    MST_TRY(mst_npy_prefix(path, data, &length_size));
    *used = MST_NPY_PREFIX + (size_t)length_size;
    if (size < *used) return npy_cut_off(path);
    for (int i = 0; i < length_size; i++) length |= (size_t)data[MST_NPY_PREFIX + i] << 8 * i;
    if (length > size - *used) return npy_cut_off(path);
    MST_TRY(mst_npy_parse(path, (const char *)data + *used, length, out));
    *used += length;
    return MST_OK;
}

static mst_status npy_read_elements(const char *path, const mst_npy *header, const unsigned char *data, size_t size,
                                    mst_tensor **out) {
    char text[MST_SHAPE_TEXT];
    uint64_t total = mst_dtype_size(header->dtype);
    bool overflow = false;
    for (int i = 0; i < header->shape.ndim; i++)
        overflow |= __builtin_mul_overflow(total, (uint64_t)header->shape.dim[i], &total);
    if (overflow || total != size)
        return MST_FAIL(MST_CORRUPT,
                        "'%s': %s%s does not take the %zu bytes that are there: the array is damaged, save it again",
                        path, mst_dtype_name(header->dtype), mst_shape_print(header->shape, text, sizeof text), size);
    MST_TRY(mst_tensor_create(header->dtype, header->shape, out));
    uint8_t *to = mst_tensor_data(*out);
    memcpy(to, data, size);
    if (header->big_endian) mst_swap_big_endian(to, mst_tensor_count(*out), mst_dtype_size(header->dtype));
    for (size_t i = 0; header->dtype == MST_BOOL && i < size; i++) to[i] = to[i] != 0;
    return MST_OK;
}

mst_status mst_npy_read(const char *path, mst_tensor **out) {
    void *data;
    size_t size, used = 0;
    mst_npy header;
    *out = NULL;
    MST_TRY(mst_file_read(path, SIZE_MAX / 2, &data, &size));
    mst_status status = npy_read_header(path, data, size, &used, &header);
    if (!status) status = npy_read_elements(path, &header, (unsigned char *)data + used, size - used, out);
    free(data);
    return status;
}
