#include "data/sidecar.h"

#include <stdio.h>

#include "base/file.h"

enum { PATH_SIZE = 4096, MOST_BYTES = 1 << 26 };

static mst_status path_of(const char *prefix, const char *name, char path[PATH_SIZE]) {
    const int size = snprintf(path, PATH_SIZE, "%s-%s", prefix, name);
    return size < 0 || size >= PATH_SIZE ? MST_FAIL(MST_INVALID, "data: the prefix is too long") : MST_OK;
}

mst_status mst_beside_write(const char *prefix, const char *name, const char *text, size_t size) {
    char path[PATH_SIZE];
    MST_TRY(path_of(prefix, name, path));
    return text ? mst_file_write(path, text, size) : mst_file_remove(path);
}

mst_status mst_text_file_read(const char *path, char **text, size_t *size) {
    void *data;
    *text = NULL;
    const mst_status status = mst_file_read(path, MOST_BYTES, &data, size);
    if (status) return status == MST_NOT_FOUND ? MST_OK : status;
    *text = data;
    (*text)[*size] = '\0';
    return MST_OK;
}

mst_status mst_beside_read(const char *prefix, const char *name, char **text, size_t *size) {
    char path[PATH_SIZE];
    *text = NULL;
    MST_TRY(path_of(prefix, name, path));
    return mst_text_file_read(path, text, size);
}
