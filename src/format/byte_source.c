#include "format/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cannot_open.h"
#include "base/escape.h"
#include "base/no_memory.h"

static mst_status byte_source_start(const char *name, mst_bytes *out) {
    *out = (mst_bytes){.fd = -1};
    if (!(out->name = strdup(name))) return MST_NO_MEMORY("for a path");
    return MST_OK;
}

/* Completes OUT after out->fd was set. If out->fd is below 0, opening failed, and errno says why. */
static mst_status finish_open(const char *path, mst_bytes *out) {
    struct stat info;
    if (out->fd < 0 || fstat(out->fd, &info)) return mst_cannot_open(path, "file");
    MST_TRY(mst_want_regular_file(path, &info));
    out->size = (uint64_t)info.st_size;
    (void)posix_fadvise(out->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return MST_OK;
}

mst_status mst_bytes_open(const char *path, mst_bytes *out) {
    MST_TRY(byte_source_start(path, out));
    /* Without O_NONBLOCK, opening a named pipe would wait for a writer. */
    out->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return finish_open(path, out);
}

/* Splits off the first part of the path *REST, and returns it; free it. NULL if there is no memory. *REST becomes the
 * remaining path; *LAST says whether the part was the last one. */
static char *next_part(const char **rest, bool *last) {
    const size_t size = strcspn(*rest, "/");
    char *part = strndup(*rest, size);
    *last = (*rest)[size] != '/';
    *rest += size + !*last;
    return part;
}

static mst_status leads_out(const char *path, const char *why) {
    return MST_FAIL(MST_INVALID, "'%s': %s: put the file itself into the folder of the file that names it", path, why);
}

/* Opens PART in the folder AT: the file if it is the LAST part of the path, else a folder. If openat fails, the result
 * is MST_OK, *OUT is -1, and errno says why. */
static mst_status open_part(int at, const char *part, bool last, const char *path, int *out) {
    struct stat info;
    const int flags = O_NOFOLLOW | O_CLOEXEC | (last ? O_RDONLY | O_NONBLOCK : O_PATH | O_DIRECTORY);
    if (!*part || strcmp(part, ".") == 0 || strcmp(part, "..") == 0)
        return leads_out(path, "has a part that is empty, '.' or '..'");
    if (fstatat(at, part, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode))
        return leads_out(path, "has a symbolic link on its way, which is not followed");
    *out = openat(at, part, flags);
    return MST_OK;
}

mst_status mst_bytes_open_inside(const mst_folder *folder, const char *path, mst_bytes *out) {
    enum { SHOWN = 256 };
    char shown[SHOWN]; /* PATH for messages, escaped, since it comes from a file */
    const char *rest = path;
    int at = -1;
    bool last;
    mst_escape_line(path, strlen(path), shown, sizeof shown);
    MST_TRY(byte_source_start(shown, out));
    mst_status status = MST_OK;
    do {
        char *part = next_part(&rest, &last);
        int next = -1;
        status =
            part ? open_part(at < 0 ? folder->descriptor : at, part, last, shown, &next) : MST_NO_MEMORY("for a path");
        const int cause = errno;
        free(part);
        if (at >= 0) close(at);
        errno = cause;
        at = next;
    } while (!status && at >= 0 && !last);
    if (status) return status;
    out->fd = at;
    return finish_open(shown, out);
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
        if (count == 0) break; /* the file has become shorter */
        *got += (size_t)count;
    }
    return MST_OK;
}
