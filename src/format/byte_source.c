#include "format/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/no_memory.h"

static mst_status byte_source_start(const char *name, mst_bytes *out) {
    *out = (mst_bytes){.fd = -1};
    if (!(out->name = strdup(name))) return MST_NO_MEMORY("for a path");
    return MST_OK;
}

mst_status mst_bytes_open(const char *path, mst_bytes *out) {
    struct stat info;
    MST_TRY(byte_source_start(path, out));
    /* Without O_NONBLOCK, opening a named pipe would wait for a writer. */
    out->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (out->fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return MST_FAIL(MST_NOT_FOUND, "'%s': no such file: check the path", path);
    if (out->fd < 0 && errno == EACCES)
        return MST_FAIL(MST_IO, "'%s': permission denied: make the file and its folders readable for this user", path);
    if (out->fd < 0 || fstat(out->fd, &info))
        return MST_FAIL(MST_IO, "'%s': cannot be opened: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode)) return MST_FAIL(MST_INVALID, "'%s': is a folder: give the path of a file in it", path);
    if (!S_ISREG(info.st_mode))
        return MST_FAIL(MST_INVALID, "'%s': is not a regular file: copy its contents to one first", path);
    out->size = (uint64_t)info.st_size;
    (void)posix_fadvise(out->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return MST_OK;
}

mst_status mst_bytes_of_memory(const char *name, const void *data, size_t size, mst_bytes *out) {
    MST_TRY(byte_source_start(name, out));
    out->memory = data;
    out->size = size;
    return MST_OK;
}

void mst_bytes_close(mst_bytes *bytes) {
    if (bytes->fd >= 0) close(bytes->fd);
    free(bytes->name);
    *bytes = (mst_bytes){.fd = -1};
}

mst_status mst_bytes_read(const mst_bytes *bytes, uint64_t offset, void *dst, size_t size, size_t *got) {
    *got = 0;
    if (offset >= bytes->size) return MST_OK;
    if (size > bytes->size - offset) size = (size_t)(bytes->size - offset);
    if (bytes->fd < 0) {
        if (size) memcpy(dst, bytes->memory + offset, size);
        *got = size;
        return MST_OK;
    }
    while (*got < size) {
        ssize_t count = pread(bytes->fd, (char *)dst + *got, size - *got, (off_t)(offset + *got));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0)
            return MST_FAIL(MST_IO, "'%s': cannot be read at byte %llu: %s", bytes->name,
                            (unsigned long long)(offset + *got), strerror(errno));
        if (count == 0) break; /* the file became shorter meanwhile */
        *got += (size_t)count;
    }
    return MST_OK;
}
