/* Writes NPY. Source: NEP 1. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "format/npy.h"

/* The elements and the length of the text are little-endian, like the machine. */
size_t mst_npy_header(const mst_tensor *tensor, char header[MST_NPY_HEADER]) {
    static const char *const codes[MST_NUM_DTYPES] = {[MST_F32] = "<f4", [MST_F64] = "<f8", [MST_I32] = "<i4",
                                                      [MST_I64] = "<i8", [MST_U8] = "|u1",  [MST_BOOL] = "|b1"};
    enum { BEFORE_TEXT = 10, ALIGNMENT = 64 };
    char *text = header + BEFORE_TEXT;
    const mst_shape shape = mst_tensor_shape(tensor);
    const char *code = codes[mst_tensor_dtype(tensor)];
    if (!code) return 0;
    int used = sprintf(text, "{'descr': '%s', 'fortran_order': False, 'shape': (", code);
    for (int i = 0; i < shape.ndim; i++)
        used += sprintf(text + used, "%" PRId64 ",%s", shape.dim[i], i + 1 < shape.ndim ? " " : "");
    used += sprintf(text + used, "), }");
    while ((BEFORE_TEXT + used + 1) % ALIGNMENT) text[used++] = ' ';
    text[used++] = '\n';
    static const unsigned char begin[MST_NPY_PREFIX] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    memcpy(header, begin, sizeof begin);
    header[8] = (char)(used & 255);
    header[9] = (char)(used >> 8);
    return (size_t)(BEFORE_TEXT + used);
}

mst_status mst_npy_write(const char *path, const mst_tensor *tensor) {
    char header[MST_NPY_HEADER];
    const size_t size = mst_npy_header(tensor, header);
    if (!size)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': the array is %s, which NumPy does not have: write safetensors", path,
                        mst_dtype_name(mst_tensor_dtype(tensor)));
    const mst_file_part part[] = {{header, size}, {mst_tensor_data(tensor), mst_tensor_bytes(tensor)}};
    return mst_file_write_parts(path, part, 2);
}
