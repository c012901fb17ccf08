/* idx:DIR: the four files of MNIST. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/folder.h"
#include "data/writers/write.h"
#include "format/idx.h"

enum { PATH_SIZE = 4096 };

/* IDX has no i64: labels become u8 if they fit, else i32. */
static mst_status narrow(mst_tensor **tensor) {
    if (mst_tensor_dtype(*tensor) != MST_I64) return MST_OK;
    const int64_t *from = mst_tensor_data(*tensor), count = mst_tensor_count(*tensor);
    bool bytes = true, words = true;
    for (int64_t i = 0; i < count; i++) {
        bytes &= from[i] >= 0 && from[i] <= UINT8_MAX;
        words &= from[i] >= INT32_MIN && from[i] <= INT32_MAX;
    }
    if (!words) return MST_FAIL(MST_UNIMPLEMENTED, "idx: an integer is out of the range of i32, the most IDX holds");
    mst_tensor *made;
    MST_TRY(mst_tensor_create(bytes ? MST_U8 : MST_I32, mst_tensor_shape(*tensor), &made));
    for (int64_t i = 0; i < count; i++)
        if (bytes)
            ((uint8_t *)mst_tensor_data(made))[i] = (uint8_t)from[i];
        else
            ((int32_t *)mst_tensor_data(made))[i] = (int32_t)from[i];
    mst_tensor_release(*tensor);
    *tensor = made;
    return MST_OK;
}

static mst_status write_file(const char *folder, const char *name, mst_dataset *part, int component) {
    char path[PATH_SIZE];
    mst_tensor *tensor;
    const int size = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (size < 0 || size >= PATH_SIZE) return MST_FAIL(MST_INVALID, "data: the path of the folder is too long");
    MST_TRY(mst_write_gather(part, component, &tensor));
    mst_status status = narrow(&tensor);
    if (!status) status = mst_idx_write(path, tensor);
    mst_tensor_release(tensor);
    return status;
}

static mst_status write_files(const char *folder, mst_dataset *train, mst_dataset *test,
                              const mst_write_options *options) {
    static const char *const names[2][2] = {{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
                                            {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}};
    mst_dataset *const parts[2] = {train, test};
    (void)options;
    if (mkdir(folder, 0777) && errno != EEXIST && (errno == ENOENT || errno == ENOTDIR))
        return MST_FAIL(MST_IO, "'%s' cannot be made: the folder above it is not there: make it", folder);
    if (!mst_is_folder(folder) && errno == ENOTDIR)
        return MST_FAIL(MST_INVALID, "'%s' is a file, where a folder is needed: name another", folder);
    if (!mst_is_folder(folder)) return MST_FAIL(MST_IO, "'%s' cannot be made: %s", folder, strerror(errno));
    for (int part = 0; part < 2; part++)
        for (int c = 0; c < 2 && parts[part] && c < parts[part]->num_components; c++)
            MST_TRY(write_file(folder, names[part][c], parts[part], c));
    return MST_OK;
}

static const char *const idx_files[] = {"/train-images-idx3-ubyte", "/train-labels-idx1-ubyte",
                                        "/t10k-images-idx3-ubyte", "/t10k-labels-idx1-ubyte", NULL};

const mst_data_writer mst_data_writer_idx = {
    .name = "idx:", .form = "idx:DIR", .files = idx_files, .write = write_files};
