#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* The file that PATH leads to, through symbolic links: that is the one to be replaced. To be freed with free(). */
static char *target_of(const char *path) {
    char *target = realpath(path, NULL);
    return target ? target : strdup(path);
}

/* Length of the part of PATH that names the folder, with the '/'. */
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* As a new file has it, or the file that is replaced. */
static mode_t mode_for(const char *path) {
    struct stat info;
    if (stat(path, &info) == 0) return info.st_mode & 0777;
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* A new file in the folder of PATH, of a short name that nothing else has or had. */
static mst_status create_beside(const char *path, char **name, int *file) {
    if (asprintf(name, "%.*s.muster-XXXXXX", (int)folder_length(path), path) < 0) {
        *name = NULL;
        return MST_FAIL(MST_OUT_OF_MEMORY, "'%s' cannot be written: cannot get memory", path);
    }
    *file = mkostemp(*name, O_CLOEXEC);
    if (*file < 0) return write_fail(path);
    if (fchmod(*file, mode_for(path)) == 0) return MST_OK;
    mst_status status = write_fail(path);
    close(*file);
    unlink(*name);
    return status;
}

static mst_status write_all(int file, const char *path, const char *data, size_t size) {
    while (size) {
        ssize_t wrote = write(file, data, size);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return write_fail(path);
        data += wrote;
        size -= (size_t)wrote;
    }
    return MST_OK;
}

/* The new name is on the disk too. Some file systems cannot sync a folder: what matters is that the file is whole. */
static void sync_folder(const char *path) {
    const size_t length = folder_length(path);
    char *folder = length ? strndup(path, length) : strdup(".");
    int file = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (file >= 0) {
        (void)fsync(file);
        close(file);
    }
    free(folder);
}

struct mst_file_writer {
    char *target; /* the file to be replaced */
    char *name;   /* of the file beside it; NULL: none */
    int file;
};

mst_status mst_file_begin(const char *path, mst_file_writer **out) {
    mst_file_writer *writer = *out = calloc(1, sizeof *writer);
    char *target = target_of(path);
    if (!writer || !target) {
        free(writer);
        free(target);
        *out = NULL;
        return MST_FAIL(MST_OUT_OF_MEMORY, "'%s' cannot be written: cannot get memory", path);
    }
    *writer = (mst_file_writer){.target = target, .file = -1};
    mst_status status = create_beside(target, &writer->name, &writer->file);
    if (!status) return MST_OK;
    free(writer->name);
    free(target);
    free(writer);
    *out = NULL;
    return status;
}

mst_status mst_file_add(mst_file_writer *writer, const void *data, size_t size) {
    return write_all(writer->file, writer->target, data, size);
}

mst_status mst_file_commit(mst_file_writer *writer) {
    const int file = writer->file;
    writer->file = -1;
    if (fsync(file)) {
        mst_status status = write_fail(writer->target);
        close(file);
        return status;
    }
    if (close(file) || rename(writer->name, writer->target)) return write_fail(writer->target);
    sync_folder(writer->target);
    free(writer->name);
    writer->name = NULL;
    return MST_OK;
}

void mst_file_end(mst_file_writer *writer) {
    if (!writer) return;
    if (writer->file >= 0) close(writer->file);
    if (writer->name) unlink(writer->name);
    free(writer->name);
    free(writer->target);
    free(writer);
}

mst_status mst_file_write_parts(const char *path, const mst_file_part *part, int num_parts) {
    mst_file_writer *writer;
    MST_TRY(mst_file_begin(path, &writer));
    mst_status status = MST_OK;
    for (int i = 0; i < num_parts && !status; i++) status = mst_file_add(writer, part[i].data, part[i].size);
    if (!status) status = mst_file_commit(writer);
    mst_file_end(writer);
    return status;
}

mst_status mst_file_write(const char *path, const void *data, size_t size) {
    return mst_file_write_parts(path, &(mst_file_part){data, size}, 1);
}

mst_status mst_file_check(const char *path) {
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return MST_FAIL(MST_INVALID, "'%s' is no regular file: name another", path);
    const char *base = path + folder_length(path);
    if (strlen(base) > NAME_MAX) return MST_FAIL(MST_INVALID, "'%.80s...': the name is too long", base);
    char *target = target_of(path), *name = NULL;
    if (!target) return MST_FAIL(MST_OUT_OF_MEMORY, "'%s' cannot be written: cannot get memory", path);
    int file;
    mst_status status = create_beside(target, &name, &file);
    if (!status) {
        close(file);
        unlink(name);
    }
    free(name);
    free(target);
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
