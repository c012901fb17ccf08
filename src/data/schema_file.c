#include "data/schema_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "data/schema.h"

enum { PATH_SIZE = 4096, MOST_BYTES = 1 << 26 };

static mst_status path_of(const char *prefix, char path[PATH_SIZE]) {
    const int size = snprintf(path, PATH_SIZE, "%s-schema.json", prefix);
    return size < 0 || size >= PATH_SIZE ? MST_FAIL(MST_INVALID, "data: the prefix is too long") : MST_OK;
}

mst_status mst_schema_file_write(const char *prefix, const mst_dataset *dataset) {
    char path[PATH_SIZE];
    const char *text = mst_dataset_schema(dataset);
    MST_TRY(path_of(prefix, path));
    return text ? mst_file_write(path, text, strlen(text)) : mst_file_remove(path);
}

static mst_status check(const char *text) {
    mst_schema schema;
    const mst_status status = mst_schema_read(text, &schema);
    mst_schema_free(&schema);
    return status;
}

mst_status mst_schema_file_read(const char *prefix, mst_dataset *dataset, mst_dataset **out) {
    char path[PATH_SIZE];
    void *text;
    size_t size;
    MST_TRY(path_of(prefix, path));
    if (access(path, F_OK)) {
        *out = mst_dataset_retain(dataset);
        return MST_OK;
    }
    MST_TRY(mst_file_read(path, MOST_BYTES, &text, &size));
    ((char *)text)[size] = '\0';
    if (!check(text)) return mst_dataset_add_schema(dataset, text, out);
    free(text);
    return mst_error_prefix("'%s'", path);
}
