#include "base/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/no_memory.h"

bool mst_is_folder(const char *path) {
    struct stat info;
    if (stat(path, &info)) return false;
    if (!S_ISDIR(info.st_mode)) errno = ENOTDIR;
    return S_ISDIR(info.st_mode);
}

static mst_status make_one(const char *path, const char *whole) {
    struct stat info;
    if (mkdir(path, 0777) == 0) return MST_OK;
    const int cause = errno;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) return MST_OK;
        return MST_FAIL(MST_INVALID, "the folder '%s' cannot be made: '%s' is a file: name another", whole, path);
    }
    return MST_FAIL(MST_IO, "the folder '%s' cannot be made: %s", whole, strerror(cause));
}

mst_status mst_folder_make(const char *path) {
    if (!*path) return MST_FAIL(MST_INVALID, "the name of a folder is empty");
    char *part = strdup(path);
    if (!part) return MST_NO_MEMORY("for the name of a folder");
    mst_status status = MST_OK;
    for (char *slash = strchr(part + 1, '/'); slash && !status; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        status = make_one(part, path);
        *slash = '/';
    }
    free(part);
    return status ? status : make_one(path, path);
}
