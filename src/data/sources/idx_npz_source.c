/* Sources: IDX and NumPy files, read as a whole, with values as stored. */
#include <stdlib.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "data/nested.h"
#include "format/idx.h"
#include "format/npz.h"
#include "muster/dataset.h"

static mst_status read_idx(const char *images_path, const char *labels_path, mst_tensor *tensor[2]) {
    MST_TRY(mst_idx_read(images_path, &tensor[0]));
    if (!labels_path) return MST_OK;
    MST_TRY(mst_idx_read(labels_path, &tensor[1]));
    mst_shape images = mst_tensor_shape(tensor[0]), labels = mst_tensor_shape(tensor[1]);
    if (labels.ndim != 1)
        return MST_FAIL(MST_INVALID, "'%s': has %d dimensions, labels have 1: check that it is the file of labels",
                        labels_path, labels.ndim);
    if (images.dim[0] != labels.dim[0])
        return MST_FAIL(MST_INVALID, "'%s' has %lld images and '%s' has %lld labels: give files that belong together",
                        images_path, (long long)images.dim[0], labels_path, (long long)labels.dim[0]);
    return MST_OK;
}

mst_status mst_dataset_from_idx(const char *images_path, const char *labels_path, mst_dataset **out) {
    if (MST_IS_NULL(images_path) || MST_IS_NULL(out)) return MST_INVALID;
    mst_tensor *tensor[2] = {NULL, NULL};
    *out = NULL;
    mst_status status = read_idx(images_path, labels_path, tensor);
    if (!status) status = mst_dataset_from_tensors(tensor, labels_path ? 2 : 1, out);
    mst_tensor_release(tensor[0]);
    mst_tensor_release(tensor[1]);
    return status;
}

mst_dataset *mst_data_from_idx(const char *images_path, const char *labels_path) {
    MST_DATASET_OPEN(mst_dataset_from_idx(images_path, labels_path, &out));
}

static mst_status read_npz(const char *path, const char *const *names, int n, mst_tensor **tensor) {
    mst_npz *npz;
    MST_TRY(mst_npz_open(path, &npz));
    mst_status status = MST_OK;
    for (int i = 0; i < n && !status; i++) status = mst_npz_read(npz, names[i], &tensor[i]);
    mst_npz_close(npz);
    MST_TRY(status);
    for (int i = 0; i < n; i++) {
        mst_shape shape = mst_tensor_shape(tensor[i]), first = mst_tensor_shape(tensor[0]);
        if (shape.ndim == 0 || shape.dim[0] == 0)
            return MST_FAIL(MST_INVALID, "'%s': array '%s' has no rows: rows are along its first dimension", path,
                            names[i]);
        if (shape.dim[0] != first.dim[0])
            return MST_FAIL(MST_INVALID, "'%s': array '%s' has %lld rows and '%s' has %lld: they must agree", path,
                            names[i], (long long)shape.dim[0], names[0], (long long)first.dim[0]);
    }
    return MST_OK;
}

mst_status mst_dataset_from_npz(const char *path, const char *const *names, int n, mst_dataset **out) {
    if (MST_IS_NULL(path) || (n > 0 && MST_IS_NULL(names)) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    if (n < 1) return MST_FAIL(MST_INVALID, "from_npz: %d arrays, at least 1 is needed", n);
    for (int i = 0; i < n; i++)
        if (!names[i]) return MST_FAIL(MST_INVALID, "from_npz: the name of array %d is NULL", i);
    mst_tensor **tensor = calloc((size_t)n, sizeof *tensor);
    if (!tensor) return MST_NO_MEMORY("to read '%s'", path);
    mst_status status = read_npz(path, names, n, tensor);
    if (!status) status = mst_dataset_from_tensors(tensor, n, out);
    for (int i = 0; i < n; i++) mst_tensor_release(tensor[i]);
    free(tensor);
    return status;
}

mst_dataset *mst_data_from_npz(const char *path, const char *const *names, int n) {
    MST_DATASET_OPEN(mst_dataset_from_npz(path, names, n, &out));
}
