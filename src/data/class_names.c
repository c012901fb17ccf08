#include "data/class_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/no_memory.h"

enum { PATH_SIZE = 4096, MOST_BYTES = 1 << 26 };

static mst_status path_of(const char *prefix, char path[PATH_SIZE]) {
    const int size = snprintf(path, PATH_SIZE, "%s-labels.txt", prefix);
    return size < 0 || size >= PATH_SIZE ? MST_FAIL(MST_INVALID, "data: the prefix is too long") : MST_OK;
}

mst_status mst_class_names_write(const char *prefix, const mst_dataset *dataset) {
    char path[PATH_SIZE], *text = NULL;
    size_t size = 0;
    const int64_t count = mst_dataset_num_classes(dataset, 1);
    bool good = count > 0;
    MST_TRY(path_of(prefix, path));
    for (int64_t i = 0; i < count; i++) good &= !strpbrk(mst_dataset_class_name(dataset, 1, i), "\r\n");
    if (!good) return mst_file_remove(path);
    FILE *lines = open_memstream(&text, &size);
    for (int64_t i = 0; lines && i < count; i++) fprintf(lines, "%s\n", mst_dataset_class_name(dataset, 1, i));
    const bool failed = !lines || fclose(lines) != 0;
    const mst_status status = failed ? MST_NO_MEMORY("for the names of classes") : mst_file_write(path, text, size);
    free(text);
    return status;
}

/* TEXT, of SIZE bytes and one more, becomes its lines. */
static mst_status split(char *text, size_t size, char ***names, int64_t *n) {
    int64_t lines = 1;
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    *names = malloc((size_t)lines * sizeof **names);
    if (!*names) return MST_NO_MEMORY("for the names of classes");
    text[size] = '\0';
    for (char *line = text; line < text + size;) {
        char *end = line + strcspn(line, "\n");
        (*names)[(*n)++] = line;
        line = end + 1;
        *end = '\0';
        if (end > text && end[-1] == '\r') end[-1] = '\0';
    }
    return MST_OK;
}

mst_status mst_class_names_read(const char *prefix, mst_dataset *dataset, mst_dataset **out) {
    char path[PATH_SIZE], **names = NULL;
    void *text;
    size_t size;
    int64_t n = 0;
    MST_TRY(path_of(prefix, path));
    const bool integers = dataset->num_components > 1 && dataset->row[1].dtype == MST_I64;
    if (!integers || access(path, F_OK)) {
        *out = mst_dataset_retain(dataset);
        return MST_OK;
    }
    MST_TRY(mst_file_read(path, MOST_BYTES, &text, &size));
    mst_status status = split(text, size, &names, &n);
    if (!status && n == 0) *out = mst_dataset_retain(dataset);
    if (!status && n > 0) status = mst_dataset_name_classes(dataset, 1, (const char *const *)names, n, out);
    free(names);
    free(text);
    return status;
}
