#include "base/cannot_open.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

mst_status mst_cannot_open(const char *path, const char *kind) {
    const int code = errno;
    struct stat info;
    const bool is_file = code == ENOTDIR && strcmp(kind, "folder") == 0 && stat(path, &info) == 0;
    if (is_file) return MST_FAIL(MST_INVALID, "'%s': is a file, where a folder is needed: check the path", path);
    if (code == ENOENT || code == ENOTDIR)
        return MST_FAIL(MST_NOT_FOUND, "'%s': no such %s: check the path", path, kind);
    if (code == EACCES)
        return MST_FAIL(MST_IO, "'%s': permission denied: make it and the folders above it readable for this user",
                        path);
    return MST_FAIL(MST_IO, "'%s': cannot be opened: %s", path, strerror(code));
}

mst_status mst_want_regular_file(const char *path, const struct stat *info) {
    if (S_ISDIR(info->st_mode)) return MST_FAIL(MST_INVALID, "'%s': is a folder: give the path of a file in it", path);
    if (!S_ISREG(info->st_mode))
        return MST_FAIL(MST_INVALID, "'%s': is not a regular file: copy its contents to one first", path);
    return MST_OK;
}
