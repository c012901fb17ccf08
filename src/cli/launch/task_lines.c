#include "cli/launch/task_lines.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/no_memory.h"

/* Bytes: of one read; of a line, which is passed on in pieces if it is longer; in a sink, which is full above them. */
enum { READ_SIZE = 1 << 16, MOST_LINE = 1 << 20, FULL = 1 << 18 };

/* ---- buffers ---- */

static mst_status buffer_reserve(line_buffer *buffer, size_t more) {
    if (buffer->capacity - buffer->size >= more) return MST_OK;
    size_t capacity = buffer->capacity ? buffer->capacity : READ_SIZE;
    while (capacity - buffer->size < more) capacity *= 2;
    char *data = realloc(buffer->data, capacity);
    if (!data) return MST_NO_MEMORY("for what tasks print");
    buffer->data = data;
    buffer->capacity = capacity;
    return MST_OK;
}

/* Appends DATA to BUFFER, which must have room for it. */
static void buffer_put(line_buffer *buffer, const char *data, size_t size) {
    if (size) memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

static void buffer_free(line_buffer *buffer) {
    free(buffer->data);
    *buffer = (line_buffer){0};
}

/* ---- sinks ---- */

void line_sink_open(line_sink *sink, int descriptor) {
    const char *no_color = getenv("NO_COLOR");
    *sink = (line_sink){.descriptor = descriptor, .colored = !(no_color && *no_color) && isatty(descriptor)};
}

bool line_sink_is_pending(const line_sink *sink) {
    return sink->buffer.size > sink->sent;
}

bool line_sink_is_full(const line_sink *sink) {
    return sink->buffer.size - sink->sent > FULL;
}

static mst_status add_parts(line_sink *sink, const char *prefix, const char *line, size_t size) {
    const size_t before = strlen(prefix);
    if (sink->error) return MST_OK;
    MST_TRY(buffer_reserve(&sink->buffer, before + size + 1));
    buffer_put(&sink->buffer, prefix, before);
    buffer_put(&sink->buffer, line, size);
    buffer_put(&sink->buffer, "\n", 1);
    return MST_OK;
}

mst_status line_sink_add(line_sink *sink, const char *line, size_t size) {
    return add_parts(sink, "", line, size);
}

/* If poll reports a pipe as writable, a write of PIPE_BUF bytes does not wait. */
void line_sink_write(line_sink *sink) {
    const size_t pending = sink->buffer.size - sink->sent;
    const ssize_t size =
        write(sink->descriptor, sink->buffer.data + sink->sent, pending < PIPE_BUF ? pending : PIPE_BUF);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (size < 0)
        sink->error = errno;
    else
        sink->sent += (size_t)size;
    if (sink->error || sink->sent == sink->buffer.size) {
        sink->buffer.size = sink->sent = 0;
    } else if (sink->sent > FULL) {
        sink->buffer.size -= sink->sent;
        memmove(sink->buffer.data, sink->buffer.data + sink->sent, sink->buffer.size);
        sink->sent = 0;
    }
}

void line_sink_close(line_sink *sink) {
    buffer_free(&sink->buffer);
}

/* ---- streams ---- */

static bool write_all(int descriptor, const char *data, size_t size) {
    while (size) {
        const ssize_t written = write(descriptor, data, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        data += written;
        size -= (size_t)written;
    }
    return true;
}

static mst_status write_log(task_lines *lines, const char *line, size_t size) {
    if (*lines->log < 0 || (write_all(*lines->log, line, size) && write_all(*lines->log, "\n", 1))) return MST_OK;
    char warning[256];
    snprintf(warning, sizeof warning, "warning: --log-dir: %s: the file of this task gets no more lines",
             strerror(errno));
    close(*lines->log);
    *lines->log = -1;
    return add_parts(lines->sink, lines->prefix, warning, strlen(warning));
}

/* Keeps LINE as the last line, unless the line kept so far begins with "error:" and LINE does not. */
static void keep_last(task_lines *lines, const char *line, size_t size) {
    static const char error[] = "error:";
    const bool is_error = size >= sizeof error - 1 && strncmp(line, error, sizeof error - 1) == 0;
    if (!lines->last || !size || (!is_error && strncmp(lines->last, error, sizeof error - 1) == 0)) return;
    snprintf(lines->last, lines->last_size, "%.*s", (int)size, line);
}

static mst_status emit(task_lines *lines, const char *line, size_t size) {
    keep_last(lines, line, size);
    MST_TRY(write_log(lines, line, size));
    return add_parts(lines->sink, lines->prefix, line, size);
}

/* Passes on the complete lines of the buffer. Its first SEARCHED bytes hold no end of a line. */
static mst_status emit_lines(task_lines *lines, size_t searched) {
    line_buffer *buffer = &lines->buffer;
    size_t begin = 0;
    for (const char *end; (end = memchr(buffer->data + searched, '\n', buffer->size - searched)); searched = begin) {
        const size_t at = (size_t)(end - buffer->data);
        MST_TRY(emit(lines, buffer->data + begin, at - begin));
        begin = at + 1;
    }
    if (buffer->size - begin >= MOST_LINE) {
        MST_TRY(emit(lines, buffer->data + begin, buffer->size - begin));
        begin = buffer->size;
    }
    buffer->size -= begin;
    memmove(buffer->data, buffer->data + begin, buffer->size);
    return MST_OK;
}

mst_status task_lines_read(task_lines *lines) {
    line_buffer *buffer = &lines->buffer;
    MST_TRY(buffer_reserve(buffer, READ_SIZE));
    const ssize_t size = read(lines->descriptor, buffer->data + buffer->size, READ_SIZE);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return MST_OK;
    if (size <= 0) {
        if (buffer->size) MST_TRY(emit(lines, buffer->data, buffer->size));
        task_lines_close(lines);
        return MST_OK;
    }
    const size_t searched = buffer->size;
    buffer->size += (size_t)size;
    return emit_lines(lines, searched);
}

mst_status task_lines_finish(task_lines *lines) {
    enum { MOST_READS = 64 }; /* a process that the task has left behind may print forever */
    for (int i = 0; i < MOST_READS && lines->descriptor >= 0; i++) MST_TRY(task_lines_read(lines));
    if (lines->buffer.size) MST_TRY(emit(lines, lines->buffer.data, lines->buffer.size));
    task_lines_close(lines);
    return MST_OK;
}

void task_lines_close(task_lines *lines) {
    if (lines->descriptor >= 0) close(lines->descriptor);
    lines->descriptor = -1;
    buffer_free(&lines->buffer);
}
