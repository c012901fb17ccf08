#include "data/spec/validation_part.h"

#include <stdio.h>

#include "base/folder.h"

const char *const mst_validation_names[] = {"val", "validation", "valid", NULL};

static bool has_folder(const char *folder, const char *name, char *path, size_t size) {
    const int length = snprintf(path, size, "%s/%s", folder, name);
    return length > 0 && (size_t)length < size && mst_is_folder(path);
}

bool mst_validation_folder(const char *folder, char *path, size_t size) {
    if (!has_folder(folder, "train", path, size)) return false;
    for (int i = 0; mst_validation_names[i]; i++)
        if (has_folder(folder, mst_validation_names[i], path, size)) return true;
    return false;
}
