#include "format/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/no_memory.h"
#include "format/stream.h"

enum { CHUNK = 256 * 1024 };

/*      buffer  | read before | begin ... end | free |
 *                              ^ offset in the data          */
struct mst_lines_reader {
    mst_bytes bytes;
    bool is_compressed;
    mst_stream *stream;
    uint8_t *buffer;
    size_t capacity, begin, end;
    uint64_t offset;     /* offset of buffer[begin] in the file, or in the decompressed data */
    bool is_over;        /* no bytes follow buffer[end] */
    mst_failure failure; /* an error of reading; reported after the lines before it have been given */
};

static size_t available(const mst_lines_reader *r) {
    return r->end - r->begin;
}

/* Makes room after buffer[end], and reads more bytes into it. */
static mst_status read_more(mst_lines_reader *r) {
    size_t got;
    if (r->begin) memmove(r->buffer, r->buffer + r->begin, available(r));
    r->end -= r->begin;
    r->begin = 0;
    if (r->end == r->capacity) {
        const size_t capacity = r->capacity > SIZE_MAX / 2 ? SIZE_MAX : 2 * r->capacity;
        uint8_t *buffer = realloc(r->buffer, capacity);
        if (!buffer)
            return MST_NO_MEMORY("for a line of more than %zu bytes, at byte %llu of '%s'", r->end,
                                 (unsigned long long)r->offset, r->bytes.name);
        r->buffer = buffer;
        r->capacity = capacity;
    }
    const size_t want = r->capacity - r->end;
    const mst_status status = mst_stream_read(r->stream, r->buffer + r->end, want, &got);
    mst_failure_keep(&r->failure, status);
    r->end += got;
    r->is_over = status || got < want;
    return MST_OK;
}

/* Takes the next SIZE bytes as a line. ENDING is 1 if they end with '\n', else 0. *LINE is without its line end. */
static void lines_take(mst_lines_reader *r, size_t size, size_t ending, mst_record *line) {
    const uint8_t *data = r->buffer + r->begin;
    size_t length = size - ending;
    if (ending && length && data[length - 1] == '\r') length--;
    *line = (mst_record){data, length, r->offset};
    r->begin += size;
    r->offset += size;
}

mst_status mst_lines_reader_next(mst_lines_reader *reader, mst_record *line) {
    mst_lines_reader *r = reader;
    *line = (mst_record){.offset = r->offset};
    for (size_t looked_at = 0;;) {
        const uint8_t *data = r->buffer + r->begin;
        const uint8_t *end = memchr(data + looked_at, '\n', available(r) - looked_at);
        if (end) {
            lines_take(r, (size_t)(end - data) + 1, 1, line);
            return MST_OK;
        }
        looked_at = available(r);
        if (r->is_over) break;
        MST_TRY(read_more(r));
    }
    if (r->failure.code) return mst_failure_restore(&r->failure);
    if (available(r)) lines_take(r, available(r), 0, line);
    return MST_OK;
}

/* ---- opening ---- */

static mst_status lines_start(mst_lines_reader *r) {
    uint8_t head[2];
    size_t got;
    MST_TRY(mst_bytes_read(&r->bytes, 0, head, sizeof head, &got));
    r->is_compressed = got == sizeof head && head[0] == 0x1f && head[1] == 0x8b;
    r->capacity = r->is_compressed || r->bytes.size >= CHUNK ? CHUNK : (size_t)r->bytes.size + 1;
    if (!(r->buffer = malloc(r->capacity))) return MST_NO_MEMORY("for reading '%s'", r->bytes.name);
    return mst_stream_create(&r->bytes, 0, r->bytes.size, r->is_compressed ? MST_STREAM_GZIP : MST_STREAM_PLAIN,
                             &r->stream);
}

static mst_status open_reader(const char *name, const void *data, size_t size, mst_lines_reader **out) {
    mst_lines_reader *r = *out = calloc(1, sizeof *r);
    if (!r) return MST_NO_MEMORY("for reading '%s'", name);
    mst_status status = data ? mst_bytes_of_memory(name, data, size, &r->bytes) : mst_bytes_open(name, &r->bytes);
    if (!status) status = lines_start(r);
    if (!status) return MST_OK;
    mst_lines_reader_close(r);
    *out = NULL;
    return status;
}

mst_status mst_lines_reader_open(const char *path, mst_lines_reader **out) {
    return open_reader(path, NULL, 0, out);
}

mst_status mst_lines_reader_parse(const char *name, const void *data, size_t size, mst_lines_reader **out) {
    return open_reader(name, size ? data : "", size, out);
}

void mst_lines_reader_close(mst_lines_reader *reader) {
    if (!reader) return;
    mst_stream_destroy(reader->stream);
    mst_bytes_close(&reader->bytes);
    free(reader->buffer);
    free(reader);
}

bool mst_lines_reader_is_compressed(const mst_lines_reader *reader) {
    return reader->is_compressed;
}

/* ---- the places of lines ---- */

static mst_status lines_build(mst_lines_reader *reader, mst_record_index *out) {
    for (mst_record line;;) {
        MST_TRY(mst_lines_reader_next(reader, &line));
        if (!line.data) return MST_OK;
        MST_TRY(mst_record_index_add(out, line.offset, line.size));
    }
}

mst_status mst_lines_index_open(const char *path, mst_record_index *out) {
    mst_lines_reader *reader;
    MST_TRY(mst_record_index_open(path, out));
    MST_TRY(mst_lines_reader_open(path, &reader));
    mst_status status = MST_OK;
    if (reader->is_compressed)
        status = MST_FAIL(MST_INVALID, "'%s': is compressed: its lines can only be read in their order", path);
    if (!status) status = lines_build(reader, out);
    mst_lines_reader_close(reader);
    return status;
}
