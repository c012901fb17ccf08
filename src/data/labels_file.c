#include "data/labels_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "data/sidecar.h"

static const char file_name[] = "labels.txt";

mst_status mst_class_names_write(const char *prefix, const mst_dataset *dataset) {
    char *text = NULL;
    size_t size = 0;
    const int64_t count = mst_dataset_num_classes(dataset, 1);
    bool good = count > 0;
    for (int64_t i = 0; i < count; i++) good &= !strpbrk(mst_dataset_class_name(dataset, 1, i), "\r\n");
    if (!good) return mst_beside_write(prefix, file_name, NULL, 0);
    FILE *lines = open_memstream(&text, &size);
    for (int64_t i = 0; lines && i < count; i++) fprintf(lines, "%s\n", mst_dataset_class_name(dataset, 1, i));
    const bool failed = !lines || fclose(lines) != 0;
    const mst_status status =
        failed ? MST_NO_MEMORY("for the names of classes") : mst_beside_write(prefix, file_name, text, size);
    free(text);
    return status;
}

/* Splits TEXT, which has SIZE bytes, into lines. */
static mst_status split(char *text, size_t size, char ***names, int64_t *n) {
    int64_t lines = 1;
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    *names = malloc((size_t)lines * sizeof **names);
    if (!*names) return MST_NO_MEMORY("for the names of classes");
    for (char *line = text; line < text + size;) {
        char *end = line + strcspn(line, "\n");
        (*names)[(*n)++] = line;
        line = end + 1;
        *end = '\0';
        if (end > text && end[-1] == '\r') end[-1] = '\0';
    }
    return MST_OK;
}

/* DATASET with the lines of TEXT as names of its classes, or unchanged if there are none. Frees TEXT. */
static mst_status name_by_lines(char *text, size_t size, mst_dataset *dataset, mst_dataset **out) {
    char **names = NULL;
    int64_t n = 0;
    mst_status status = text ? split(text, size, &names, &n) : MST_OK;
    if (!status && n == 0) *out = mst_dataset_retain(dataset);
    if (!status && n > 0) status = mst_dataset_name_classes(dataset, 1, (const char *const *)names, n, out);
    free(names);
    free(text);
    return status;
}

static bool has_integers(const mst_dataset *dataset) {
    return dataset->num_components > 1 && dataset->row[1].dtype == MST_I64;
}

mst_status mst_class_names_read(const char *prefix, mst_dataset *dataset, mst_dataset **out) {
    char *text = NULL;
    size_t size = 0;
    if (has_integers(dataset)) MST_TRY(mst_beside_read(prefix, file_name, &text, &size));
    return name_by_lines(text, size, dataset, out);
}

mst_status mst_class_names_read_file(const char *path, mst_dataset *dataset, mst_dataset **out) {
    char *text = NULL;
    size_t size = 0;
    if (has_integers(dataset)) MST_TRY(mst_text_file_read(path, &text, &size));
    return name_by_lines(text, size, dataset, out);
}
