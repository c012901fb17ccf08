/* Writes event files. */
#include "format/events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/folder.h"
#include "base/no_memory.h"
#include "format/tfrecord.h"

enum { WRITE_SIZE = 1 << 16, HOST_TEXT = 256, MOST_NAMES = 1000 };
static const char VERSION[] = "brain.Event:2";

struct mst_event_file {
    char *path;
    int fd;
    bool failed;
    uint8_t *buffer; /* bytes that are not yet written */
    int64_t used, capacity;
};

const char *mst_event_file_path(const mst_event_file *file) {
    return file->path;
}

static mst_status fail(mst_event_file *file) {
    file->failed = true;
    return MST_FAIL(MST_IO, "'%s' cannot be written: %s", file->path, strerror(errno));
}

mst_status mst_event_file_flush(mst_event_file *file) {
    if (file->failed) return MST_FAIL(MST_IO, "'%s' cannot be written: it failed before", file->path);
    for (int64_t done = 0; done < file->used;) {
        const ssize_t wrote = write(file->fd, file->buffer + done, (size_t)(file->used - done));
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return fail(file);
        done += wrote;
    }
    file->used = 0;
    return MST_OK;
}

mst_status mst_event_file_append(mst_event_file *file, const Muster__Event *event) {
    if (file->failed) return mst_event_file_flush(file);
    const size_t size = muster__event__get_packed_size(event);
    const int64_t needed = file->used + (int64_t)size + MST_TFRECORD_HEADER + MST_TFRECORD_FOOTER;
    if (mst_grow(&file->buffer, 1, needed, &file->capacity)) return mst_error_prefix("writing '%s'", file->path);
    uint8_t *header = file->buffer + file->used, *payload = header + MST_TFRECORD_HEADER;
    muster__event__pack(event, payload);
    mst_tfrecord_frame(payload, size, header, payload + size);
    file->used = needed;
    return file->used < WRITE_SIZE ? MST_OK : mst_event_file_flush(file);
}

mst_status mst_event_file_close(mst_event_file *file) {
    if (!file) return MST_OK;
    mst_status status = file->fd >= 0 && !file->failed ? mst_event_file_flush(file) : MST_OK;
    if (file->fd >= 0 && close(file->fd) && !status && !file->failed) status = fail(file);
    free(file->path);
    free(file->buffer);
    free(file);
    return status;
}

/* ---- a new file ---- */

/* Opens a new file. Its name has the time, the host and the process, and at the end a number that differs between the
 * writers of a process. */
static mst_status open_new(mst_event_file *file, const char *folder) {
    static _Atomic int counter;
    char host[HOST_TEXT] = "";
    if (gethostname(host, sizeof host - 1) || !*host) snprintf(host, sizeof host, "localhost");
    for (int i = 0; i < MOST_NAMES; i++) {
        free(file->path);
        if (asprintf(&file->path, "%s/events.out.tfevents.%010lld.%s.%d.%d", folder, (long long)mst_clock_wall(), host,
                     (int)getpid(), atomic_fetch_add(&counter, 1)) < 0) {
            file->path = NULL;
            return MST_NO_MEMORY("for the name of an event file");
        }
        file->fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
        if (file->fd >= 0) return MST_OK;
        if (errno != EEXIST) break;
    }
    return fail(file);
}

static mst_status events_begin(mst_event_file *file, const char *folder) {
    Muster__Event first = MUSTER__EVENT__INIT;
    MST_TRY(open_new(file, folder));
    first.wall_time = (double)(int64_t)mst_clock_wall();
    first.what_case = MUSTER__EVENT__WHAT_FILE_VERSION;
    first.file_version = (char *)(uintptr_t)VERSION;
    MST_TRY(mst_event_file_append(file, &first));
    return mst_event_file_flush(file);
}

mst_status mst_event_file_create(const char *folder, mst_event_file **out) {
    *out = NULL;
    MST_TRY(mst_folder_make(folder));
    mst_event_file *file = calloc(1, sizeof *file);
    if (!file) return MST_NO_MEMORY("for an event file");
    file->fd = -1;
    const mst_status status = events_begin(file, folder);
    if (status) {
        file->failed = true; /* there is nothing to flush */
        const mst_status closed = mst_event_file_close(file);
        return closed ? closed : status;
    }
    *out = file;
    return MST_OK;
}
