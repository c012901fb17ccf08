#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/no_memory.h"

/* ---- writing ---- */

/* Length of the part of PATH that names the folder, with the '/'. */
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static mst_status write_fail(const char *path) {
    const int folder = (int)folder_length(path);
    if (errno == ENOENT && folder)
        return MST_FAIL(MST_IO, "'%s' cannot be written: there is no folder '%.*s': make it", path, folder, path);
    return MST_FAIL(MST_IO, "'%s' cannot be written: %s", path, strerror(errno));
}

/* The file that PATH leads to, through symbolic links: that is the one to be replaced. To be freed with free(). */
static char *target_of(const char *path) {
    char *target = realpath(path, NULL);
    return target ? target : strdup(path);
}

/* As a new file has it, or the file that is replaced. */
static mode_t mode_for(const char *path) {
    struct stat info;
    if (stat(path, &info) == 0) return info.st_mode & 0777;
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* ---- the calls that change what is on the disk, which a test can make fail ---- */

static _Atomic(mst_file_fault) fault;

void mst_file_replace_fault(mst_file_fault function) {
    atomic_store(&fault, function);
}

static int ask(mst_file_call call, size_t *size) {
    const mst_file_fault function = atomic_load(&fault);
    return function ? function(call, size) : 0;
}

/* Whether CALL is to go on with *SIZE bytes (may be NULL); else errno says why not. */
static bool may(mst_file_call call, size_t *size) {
    size_t none = 0;
    const int code = ask(call, size ? size : &none);
    if (code) errno = code;
    return code == 0;
}

/* A write that fails after a part of its bytes still writes that part, as a full disk does. */
static ssize_t write_some(int file, uint64_t offset, const char *data, size_t size) {
    size_t wanted = size;
    if (may(MST_FILE_WRITE, &wanted)) return pwrite(file, data, wanted, (off_t)offset);
    const int code = errno;
    if (wanted < size && pwrite(file, data, wanted, (off_t)offset) < 0) return -1;
    errno = code;
    return -1;
}

static int sync_file(int file) {
    size_t none = 0;
    const int code = ask(MST_FILE_SYNC, &none);
    if (code > 0) errno = code;
    if (code == 0) return fsync(file);
    return code < 0 ? 0 : -1;
}

static int rename_file(const char *from, const char *to) {
    return may(MST_FILE_RENAME, NULL) ? rename(from, to) : -1;
}

static int unlink_file(const char *path) {
    return may(MST_FILE_UNLINK, NULL) ? unlink(path) : -1;
}

/* ---- one file, written to the side ---- */

/* A new file in the folder of PATH, of a short name that nothing else has or had. */
static mst_status create_beside(const char *path, char **name, int *file) {
    if (asprintf(name, "%.*s" MST_FILE_SIDE "XXXXXX", (int)folder_length(path), path) < 0) {
        *name = NULL;
        return MST_NO_MEMORY("to write '%s'", path);
    }
    *file = may(MST_FILE_CREATE, NULL) ? mkostemp(*name, O_CLOEXEC) : -1;
    if (*file < 0) return write_fail(path);
    if (fchmod(*file, mode_for(path)) == 0) return MST_OK;
    mst_status status = write_fail(path);
    close(*file);
    (void)unlink_file(*name);
    return status;
}

mst_status mst_file_create(const char *path, mst_file *out) {
    *out = (mst_file){.descriptor = -1};
    char *target = target_of(path);
    if (!target) return MST_NO_MEMORY("to write '%s'", path);
    mst_status status = create_beside(target, &out->side, &out->descriptor);
    if (status) {
        free(out->side);
        free(target);
        *out = (mst_file){.descriptor = -1};
        return status;
    }
    out->path = target;
    return MST_OK;
}

/* The disk is told to begin with what was written so far, so that the sync at the end has less to wait for. */
static void begin_writing_back(mst_file *file) {
    enum { PIECE = 32 << 20 };
    if (file->size - file->begun < PIECE) return;
    (void)sync_file_range(file->descriptor, (off_t)file->begun, (off_t)(file->size - file->begun),
                          SYNC_FILE_RANGE_WRITE);
    file->begun = file->size;
}

mst_status mst_file_put(mst_file *file, uint64_t offset, const void *data, size_t size) {
    const char *bytes = data;
    while (size) {
        const ssize_t wrote = write_some(file->descriptor, offset, bytes, size);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote == 0) errno = ENOSPC; /* nothing gets out: no reason to go on trying */
        if (wrote <= 0) return write_fail(file->path);
        bytes += wrote;
        size -= (size_t)wrote;
        offset += (uint64_t)wrote;
        if (offset > file->size) file->size = offset;
        begin_writing_back(file);
    }
    return MST_OK;
}

mst_status mst_file_append(mst_file *file, const void *data, size_t size) {
    return mst_file_put(file, file->size, data, size);
}

static void forget(mst_file *file) {
    free(file->path);
    free(file->side);
    *file = (mst_file){.descriptor = -1};
}

void mst_file_abandon(mst_file *file) {
    if (file->descriptor >= 0) close(file->descriptor);
    if (file->side) (void)unlink_file(file->side);
    forget(file);
}

mst_status mst_file_commit(mst_file *file) {
    mst_status status = sync_file(file->descriptor) ? write_fail(file->path) : MST_OK;
    const int closed = close(file->descriptor);
    file->descriptor = -1;
    if (closed && !status) status = write_fail(file->path);
    if (!status && rename_file(file->side, file->path)) status = write_fail(file->path);
    if (status) {
        mst_file_abandon(file);
        return status;
    }
    mst_file_sync_folder(file->path);
    forget(file);
    return MST_OK;
}

/* Some file systems cannot sync a folder: what matters is that the file is whole. */
void mst_file_sync_folder(const char *path) {
    const size_t length = folder_length(path);
    char *folder = length ? strndup(path, length) : strdup(".");
    int file = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (file >= 0) {
        (void)sync_file(file);
        close(file);
    }
    free(folder);
}

mst_status mst_file_remove(const char *path) {
    if (unlink_file(path) == 0 || errno == ENOENT) return MST_OK;
    return MST_FAIL(MST_IO, "'%s' cannot be removed: %s", path, strerror(errno));
}

/* ---- whole files ---- */

mst_status mst_file_write_parts(const char *path, const mst_file_part *part, int num_parts) {
    mst_file file;
    MST_TRY(mst_file_create(path, &file));
    mst_status status = MST_OK;
    for (int i = 0; i < num_parts && !status; i++) status = mst_file_append(&file, part[i].data, part[i].size);
    if (!status) return mst_file_commit(&file);
    mst_file_abandon(&file);
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
    if (!target) return MST_NO_MEMORY("to write '%s'", path);
    int file;
    mst_status status = create_beside(target, &name, &file);
    if (!status) {
        close(file);
        (void)unlink_file(name);
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
