/* Writes NPZ: arrays with an NPY header, in a ZIP archive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "format/npy.h"
#include "format/npz.h"
#include "format/zip_write.h"

enum { NAME_MOST = 60000 };

/* The bytes that the archive needs for one array besides its elements. */
typedef struct array {
    char *name; /* with .npy */
    char header[MST_NPY_HEADER];
} array;

static mst_status npz_write_describe(const char *path, const mst_named_tensor *tensor, array *array,
                                     mst_zip_file *file) {
    const size_t header_size = mst_npy_header(tensor->tensor, array->header);
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
