#include "cli/predict/mask_output.h"

#include <stdlib.h>
#include <string.h>

#include "base/folder.h"
#include "base/no_memory.h"
#include "cli/predict/predict_rows.h"

enum { MOST_CLASSES = 256 }; /* a pixel of the file is a byte */

bool mask_output_is(const char *path) {
    const size_t size = path ? strlen(path) : 0;
    return size && (path[size - 1] == '/' || mst_is_folder(path));
}

/* The number of classes of each pixel, 1 if the output is the probability of class 1; 0: the output is something
 * else. */
static int64_t mask_classes(const objective *o) {
    const mst_shape row = o->row;
    const bool is_binary = o->loss == MST_LOSS_BINARY_CROSSENTROPY;
    const bool has_classes =
        o->loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY || o->loss == MST_LOSS_CATEGORICAL_CROSSENTROPY;
    const int64_t last = row.ndim ? row.dim[row.ndim - 1] : 0;
    if (row.ndim == 3 && has_classes && last > 1) return last;
    return is_binary && (row.ndim == 2 || (row.ndim == 3 && last == 1)) ? 1 : 0;
}

static mst_status check_model(const saved_model *saved, const char *folder) {
    const int64_t classes = saved->num_objectives == 1 ? mask_classes(saved->objective) : 0;
    if (!classes)
        return MST_FAIL(MST_INVALID,
                        "--out %s: a folder gets a mask for each picture, and the model gives no class for each pixel: "
                        "write to FILE.csv, FILE.npy or FILE.npz",
                        folder);
    if (classes > MOST_CLASSES)
        return MST_FAIL(MST_INVALID,
                        "--out %s: masks have class numbers below %d, the model has %lld: write to FILE.npy", folder,
                        MOST_CLASSES, (long long)classes);
    return MST_OK;
}

/* The class of each of COUNT pixels. */
static void find_classes(const float *values, int64_t count, int64_t classes, uint8_t *out) {
    for (int64_t i = 0; i < count; i++, values += classes) {
        int64_t best = 0;
        if (classes == 1) best = values[0] > 0.5F; /* as in the metric */
        for (int64_t k = 1; k < classes; k++)
            if (values[k] > values[best]) best = k;
        out[i] = (uint8_t)best;
    }
}

/* Writes the masks of the rows from FIRST on, of which OUTPUT has the predictions. */
static mst_status write_some(const saved_model *saved, const char *folder, const char *const *paths,
                             const mst_mask_names *names, int64_t first, const mst_tensor *output) {
    const mst_shape shape = mst_tensor_shape(output);
    const int64_t height = shape.dim[1], width = shape.dim[2], classes = mask_classes(saved->objective);
    const float *values = mst_tensor_data(output);
    uint8_t *mask = malloc((size_t)(height * width) + 1);
    mst_status status = mask ? MST_OK : MST_NO_MEMORY("for a mask");
    for (int64_t i = 0; i < shape.dim[0] && !status; i++) {
        find_classes(values + i * height * width * classes, height * width, classes, mask);
        status = mst_mask_write(folder, names->name[first + i], paths[first + i], mask, height, width);
    }
    free(mask);
    return status;
}

/* Predicts BATCH_SIZE rows from FIRST on, and writes their masks. */
static mst_status predict_some(const saved_model *saved, const char *folder, const char *const *paths,
                               const mst_mask_names *names, int64_t first, int64_t batch_size) {
    mst_dataset *rest = NULL, *some = NULL;
    mst_tensor *output = NULL;
    mst_status status = mst_dataset_skip(saved->data, first, &rest);
    if (!status) status = mst_dataset_take(rest, batch_size, &some);
    if (!status) status = predict_rows(saved->model, saved->objective, 1, some, batch_size, &output);
    if (!status) status = write_some(saved, folder, paths, names, first, output);
    mst_tensor_release(output);
    mst_dataset_release(some);
    mst_dataset_release(rest);
    return status;
}

mst_status mask_output_names(const saved_model *saved, const char *const *roots, int num_roots, const char *folder,
                             mst_mask_names *out) {
    int64_t num_files = 0;
    const char *const *paths = mst_dataset_file_paths(saved->files, &num_files);
    *out = (mst_mask_names){.count = 0};
    MST_TRY(check_model(saved, folder));
    if (paths && num_files == mst_dataset_num_rows(saved->data))
        return mst_mask_names_make(paths, num_files, roots, num_roots, folder, out);
    return MST_FAIL(MST_INVALID,
                    "--out %s: masks have the names of pictures, and the data has none: name picture files or their "
                    "folder, or take --data masks:IMAGES,MASKS, or write to FILE.npy",
                    folder);
}

mst_status mask_output_write(const saved_model *saved, const mst_mask_names *names, const char *folder,
                             int64_t batch_size) {
    int64_t num_files;
    const char *const *paths = mst_dataset_file_paths(saved->files, &num_files);
    for (int64_t first = 0; first < names->count; first += batch_size)
        MST_TRY(predict_some(saved, folder, paths, names, first, batch_size));
    return MST_OK;
}
