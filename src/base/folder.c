#include "base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    if (cause == EEXIST)
        return MST_FAIL(
            MST_INVALID,
            "the folder '%s' cannot be made: '%s' is a symbolic link to what is not there: make that folder, "
            "or name another",
            whole, path);
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

/* ---- open folders ---- */

static mst_status open_failed(const char *path) {
    if (errno == ENOENT) return MST_FAIL(MST_NOT_FOUND, "there is no folder '%s': make it", path);
    if (errno == ENOTDIR) {
        struct stat info;
        if (stat(path, &info) == 0)
            return MST_FAIL(MST_IO, "'%s' is a file, where a folder is needed: name another", path);
        return MST_FAIL(MST_IO, "there is no folder '%s': a part of the path is a file: name another", path);
    }
    return MST_FAIL(MST_IO, "the folder '%s' cannot be opened: %s", path, strerror(errno));
}

/* Opens a folder with O_PATH, so that a folder that may be written to, but not listed, can be opened. */
static mst_status open_at(int parent, const char *name, int flags, char *path, mst_folder *out) {
    *out = (mst_folder){.path = NULL};
    if (!path) return MST_NO_MEMORY("for the path of a folder");
    const int descriptor = openat(parent, name, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
    if (descriptor >= 0) {
        *out = (mst_folder){.descriptor = descriptor, .path = path};
        return MST_OK;
    }
    const mst_status status = open_failed(*path ? path : ".");
    free(path);
    return status;
}

mst_status mst_folder_open(const char *path, mst_folder *out) {
    return open_at(AT_FDCWD, *path ? path : ".", 0, strdup(path), out);
}

/* Opens the folder NAME of PARENT; with MAKE it is made with MODE if there is none. */
static mst_status open_in(const mst_folder *parent, const char *name, bool make, mode_t mode, mst_folder *out) {
    struct stat info;
    *out = (mst_folder){.path = NULL};
    char *path = mst_folder_join(parent, name);
    if (!path) return MST_NO_MEMORY("for the path of a folder");
    const bool made = !make || mkdirat(parent->descriptor, name, mode) == 0;
    mst_status status = made || errno == EEXIST
                            ? MST_OK
                            : MST_FAIL(MST_IO, "the folder '%s' cannot be made: %s", path, strerror(errno));
    if (!status && fstatat(parent->descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(info.st_mode))
        status = MST_FAIL(MST_INVALID, "'%s' is %s, where a folder is needed: remove it", path,
                          S_ISLNK(info.st_mode) ? "a symbolic link" : "a file");
    if (!status) return open_at(parent->descriptor, name, O_NOFOLLOW, path, out);
    free(path);
    return status;
}

mst_status mst_folder_open_in(const mst_folder *parent, const char *name, mst_folder *out) {
    return open_in(parent, name, true, 0777, out);
}

mst_status mst_folder_open_private_in(const mst_folder *parent, const char *name, bool make, mst_folder *out) {
    return open_in(parent, name, make, S_IRWXU, out);
}

mst_status mst_folder_open_of(const char *path, mst_folder *out, const char **name) {
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) : 0; /* the folder of "/x" is "/" */
    *name = slash ? slash + 1 : path;
    char *folder = strndup(path, length ? length : slash != NULL);
    return open_at(AT_FDCWD, folder && *folder ? folder : ".", 0, folder, out);
}

mst_status mst_folder_copy(const mst_folder *folder, mst_folder *out) {
    return open_at(folder->descriptor, ".", 0, strdup(folder->path), out);
}

char *mst_folder_join(const mst_folder *folder, const char *name) {
    char *path;
    const size_t size = strlen(folder->path);
    const bool separated = size == 0 || folder->path[size - 1] == '/';
    return asprintf(&path, "%s%s%s", folder->path, separated ? "" : "/", name) < 0 ? NULL : path;
}

DIR *mst_folder_list(const mst_folder *folder) {
    const int file = openat(folder->descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = file >= 0 ? fdopendir(file) : NULL;
    if (file >= 0 && !list) close(file);
    return list;
}

mst_status mst_folder_next(DIR *list, const char *path, const struct dirent **out) {
    errno = 0;
    *out = readdir(list);
    return *out || errno == 0 ? MST_OK : MST_FAIL(MST_IO, "'%s' cannot be read: %s", path, strerror(errno));
}

void mst_folder_close(mst_folder *folder) {
    if (folder->path) close(folder->descriptor);
    free(folder->path);
    *folder = (mst_folder){.path = NULL};
}
