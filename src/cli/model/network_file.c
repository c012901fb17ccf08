#include "cli/model/network_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ending.h"
#include "base/folder.h"
#include "base/no_memory.h"
#include "model_file/huggingface/huggingface.h"
#include "model_file/onnx/onnx_file.h"
#include "muster/train.h"

bool network_file_is_named(const char *path) {
    static const char *const endings[] = {".keras", ".h5", ".hdf5", ".json", ".onnx"};
    const char *dot = path ? strrchr(path, '.') : NULL;
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i]) == 0) return true;
    return mst_huggingface_is_named(path);
}

enum { HEAD_SIZE = 8 };

/* Reads the first bytes of the file at PATH. */
static bool read_head(const char *path, char head[HEAD_SIZE]) {
    struct stat info;
    if (stat(path, &info) || !S_ISREG(info.st_mode)) return false;
    FILE *file = fopen(path, "rbe");
    const size_t size = file ? fread(head, 1, HEAD_SIZE, file) : 0;
    if (file) fclose(file);
    return size == HEAD_SIZE;
}

bool network_file_is(const char *path) {
    static const char zip[] = "PK\3\4", hdf5[] = "\x89HDF\r\n\x1a\n";
    char head[HEAD_SIZE];
    if (path && mst_is_folder(path)) return mst_huggingface_is(path);
    if (network_file_is_named(path)) return true;
    if (!path || mst_ends_in(path, ".npz") || !read_head(path, head)) return false;
    return memcmp(head, zip, 4) == 0 || memcmp(head, hdf5, 8) == 0 || mst_onnx_begins(head, HEAD_SIZE);
}

bool network_file_is_onnx(const char *path) {
    char head[HEAD_SIZE];
    return read_head(path, head) && mst_onnx_begins(head, HEAD_SIZE);
}

mst_status network_has_weights(mst_model *model, bool *out) {
    const mst_weight *weights;
    int64_t count;
    mst_tensor *first = NULL;
    *out = true;
    MST_TRY(mst_model_weights(model, &weights, &count));
    if (!count) return MST_OK;
    const mst_status status = mst_store_get(mst_model_store(model), NULL, weights[0].name, &first);
    mst_tensor_release(first);
    *out = !status;
    return status == MST_NOT_FOUND ? MST_OK : status;
}

mst_status network_load(const char *path, mst_model **out, mst_model_compiled *compiled, model_note *note) {
    bool has_weights = false;
    MST_TRY(mst_model_load(path, out, compiled));
    MST_TRY(network_has_weights(*out, &has_weights));
    if (!has_weights) return MST_FAIL(MST_INVALID, "'%s': has a network without weights", path);
    return model_note_read(mst_model_store(*out), note) ? mst_error_prefix("'%s'", path) : MST_OK;
}

mst_status network_tokens(mst_model *model, int64_t *out) {
    const mst_weight *weights;
    int64_t count;
    *out = 0;
    MST_TRY(mst_model_weights(model, &weights, &count));
    const char *end = count ? strrchr(weights[0].name, '/') : NULL;
    if (end && strcmp(end, "/embeddings") == 0) *out = weights[0].spec.shape.dim[0];
    return MST_OK;
}

mst_status network_restored(const char *path, mst_model *model, mst_restored *out) {
    mst_tensor *step = NULL;
    if (mst_store_get(mst_model_store(model), NULL, "global_step", &step)) step = NULL;
    *out = (mst_restored){.path = strdup(path),
                          .step = step ? (int64_t)mst_tensor_get(step, 0) : 0,
                          .missing = strdup(""),
                          .left_over = strdup(""),
                          .damaged = strdup("")};
    mst_tensor_release(step);
    return out->path && out->missing && out->left_over && out->damaged ? MST_OK
                                                                       : MST_NO_MEMORY("for the name of a file");
}
