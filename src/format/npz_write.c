/* Writing NPZ: the headers of NPY, in a ZIP archive. Source: NEP 1. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "format/npz.h"
#include "format/zip_write.h"

enum { NAME_MOST = 60000, HEADER_MOST = 512, ALIGNMENT = 64 };

/* The header of NPY, which ends at a multiple of ALIGNMENT; its size, 0 where there is no such dtype. */
static size_t npy_header(const mst_tensor *tensor, char header[HEADER_MOST]) {
    static const char *const codes[MST_NUM_DTYPES] = {[MST_F32] = "<f4", [MST_F64] = "<f8", [MST_I32] = "<i4",
                                                      [MST_I64] = "<i8", [MST_U8] = "|u1",  [MST_BOOL] = "|b1"};
    enum { BEFORE_TEXT = 10 };
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
    static const unsigned char begin[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    memcpy(header, begin, sizeof begin);
    header[8] = (char)(used & 255);
    header[9] = (char)(used >> 8);
    return (size_t)(BEFORE_TEXT + used);
}

/* What the archive holds of one array. */
typedef struct array {
    char *name; /* with .npy */
    char header[HEADER_MOST];
} array;

static mst_status npz_write_describe(const char *path, const mst_named_tensor *tensor, array *array,
                                     mst_zip_file *file) {
    const size_t header_size = npy_header(tensor->tensor, array->header);
    if (!header_size)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': '%.200s' is %s, which NumPy does not have: write safetensors", path,
                        tensor->name, mst_dtype_name(mst_tensor_dtype(tensor->tensor)));
    if (strlen(tensor->name) > NAME_MOST)
        return MST_FAIL(MST_INVALID, "'%s': the name '%.40s...' is too long", path, tensor->name);
    if (asprintf(&array->name, "%s.npy", tensor->name) < 0) {
        array->name = NULL;
        return MST_NO_MEMORY("to write '%s'", path);
    }
    *file = (mst_zip_file){
        .name = array->name,
        .piece = {{array->header, header_size}, {mst_tensor_data(tensor->tensor), mst_tensor_bytes(tensor->tensor)}}};
    return MST_OK;
}

mst_status mst_npz_write(const char *path, const mst_named_tensor *tensors, int64_t count) {
    array *arrays = calloc((size_t)count + 1, sizeof *arrays);
    mst_zip_file *files = calloc((size_t)count + 1, sizeof *files);
    mst_status status = arrays && files ? MST_OK : MST_NO_MEMORY("to write '%s'", path);
    for (int64_t i = 0; i < count && !status; i++)
        status = npz_write_describe(path, &tensors[i], &arrays[i], &files[i]);
    if (!status) status = mst_zip_write(path, files, count);
    for (int64_t i = 0; arrays && i < count; i++) free(arrays[i].name);
    free(files);
    free(arrays);
    return status;
}
