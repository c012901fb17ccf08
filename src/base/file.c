#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- writing ---- */

static mst_status write_fail(const char *path) {
    return MST_FAIL(MST_IO, "'%s' cannot be written: %s", path, strerror(errno));
}

/* A new file beside PATH, of a name that no other thread or process takes. */
static mst_status create_beside(const char *path, char **name, int *file) {
    static atomic_uint count;
    if (asprintf(name, "%s.tmp-%ld-%u", path, (long)getpid(), atomic_fetch_add(&count, 1)) < 0) {
        *name = NULL;
        return MST_FAIL(MST_OUT_OF_MEMORY, "'%s' cannot be written: cannot get memory", path);
    }
    /* one left behind by a process that had this number before is nobody's */
    if (unlink(*name) && errno != ENOENT) return write_fail(path);
    *file = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return *file < 0 ? write_fail(path) : MST_OK;
}

static mst_status write_all(int file, const char *path, const char *data, size_t size) {
    while (size) {
        ssize_t wrote = write(file, data, size);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return write_fail(path);
        data += wrote;
        size -= (size_t)wrote;
    }
    return fsync(file) ? write_fail(path) : MST_OK;
}

/* The new name is on the disk too. Some file systems cannot sync a folder: what matters is that the file is whole. */
static void sync_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int file = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (file >= 0) {
        (void)fsync(file);
        close(file);
    }
    free(folder);
}

mst_status mst_file_write(const char *path, const void *data, size_t size) {
    char *name = NULL;
    int file = -1;
    mst_status status = create_beside(path, &name, &file);
    if (!status) {
        status = write_all(file, path, data, size);
        if (close(file) && !status) status = write_fail(path);
        if (!status && rename(name, path)) status = write_fail(path);
        if (status)
            unlink(name);
        else
            sync_folder(path);
    }
    free(name);
    return status;
}

/* ---- reading ---- */

static mst_status read_all(int file, const char *path, char *data, size_t size) {
    while (size) {
        ssize_t got = read(file, data, size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return MST_FAIL(MST_IO, "'%s' cannot be read: %s", path, strerror(errno));
        if (got == 0) return MST_FAIL(MST_IO, "'%s' cannot be read: it became shorter meanwhile", path);
        data += got;
        size -= (size_t)got;
    }
    return MST_OK;
}

mst_status mst_file_read(const char *path, size_t most, void **data, size_t *size) {
    struct stat info;
    *data = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return MST_FAIL(errno == ENOENT || errno == ENOTDIR ? MST_NOT_FOUND : MST_IO, "'%s' cannot be opened: %s", path,
                        strerror(errno));
    mst_status status = MST_OK;
    void *bytes = NULL;
    if (fstat(file, &info))
        status = MST_FAIL(MST_IO, "'%s' cannot be read: %s", path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        status = MST_FAIL(MST_INVALID, "'%s' is no regular file", path);
    else if ((uint64_t)info.st_size > most)
        status =
            MST_FAIL(MST_INVALID, "'%s' has %lld bytes, at most %zu are possible", path, (long long)info.st_size, most);
    else if (!(bytes = malloc((size_t)info.st_size + 1)))
        status = MST_FAIL(MST_OUT_OF_MEMORY, "'%s' cannot be read: cannot get %lld bytes of memory", path,
                          (long long)info.st_size);
    else
        status = read_all(file, path, bytes, (size_t)info.st_size);
    close(file);
    if (status) {
        free(bytes);
        return status;
    }
    *data = bytes;
    *size = (size_t)info.st_size;
    return MST_OK;
}
