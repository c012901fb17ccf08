/* Framing of records, and a reader from front to back (records by number: tfrecord_index.c).
 *
 * The reader holds a window of the file, plain or decompressed, in a buffer that grows with the longest record. After
 * both checksums of a record have been checked, the caller gets a pointer into the buffer. A length is not trusted: at
 * most twice as much memory is allocated as has been read. After an error, mst_tfrecord_reader_recover finds the next
 * record. If only the data was damaged, the next record begins right after it. If the length was damaged, every offset
 * is tried until a length with the right checksum begins there. */
#include "format/tfrecord.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "format/checksum.h"
#include "format/stream.h"

/* ---- framing ---- */

uint32_t mst_masked_crc(const void *data, size_t size) {
    return mst_crc32c_mask(mst_crc32c(0, data, size));
}

static uint32_t little32(const uint8_t *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return le32toh(value);
}

static void put32(uint8_t *bytes, uint32_t value) {
    value = htole32(value);
    memcpy(bytes, &value, sizeof value);
}

void mst_tfrecord_frame(const void *data, size_t size, uint8_t header[MST_TFRECORD_HEADER],
                        uint8_t footer[MST_TFRECORD_FOOTER]) {
    const uint64_t length = htole64((uint64_t)size);
    memcpy(header, &length, sizeof length);
    put32(header + 8, mst_masked_crc(header, 8));
    put32(footer, mst_masked_crc(data, size));
}

bool mst_tfrecord_length(const uint8_t header[MST_TFRECORD_HEADER], uint64_t *length) {
    memcpy(length, header, sizeof *length);
    *length = le64toh(*length);
    return little32(header + 8) == mst_masked_crc(header, 8);
}

bool mst_tfrecord_is_intact(const uint8_t *data, size_t size) {
    return little32(data + size) == mst_masked_crc(data, size);
}

mst_status mst_tfrecord_corrupt(const char *name, uint64_t offset, const char *where, const char *what) {
    return MST_FAIL(MST_CORRUPT, "'%s': record at byte %llu%s: %s: the file is damaged or incomplete, get it again",
                    name, (unsigned long long)offset, where, what);
}

/* ---- reading from front to back ---- */

/* Half of a level 2 cache, so that what the copy has just written is in the cache when its checksum is computed. */
enum { CHUNK = 256 * 1024 };

typedef enum damage { NO_DAMAGE, OF_LENGTH, OF_DATA, OF_STREAM } damage;

/*      buffer  | read before | begin ... end | free |
 *                              ^ offset in the data          */
struct mst_tfrecord_reader {
    mst_bytes bytes;
    mst_tfrecord_compression compression;
    mst_stream *stream; /* NULL for a plain file */
    uint8_t *buffer;
    size_t capacity, begin, end;
    uint64_t offset;     /* offset of buffer[begin] in the file, or in the decompressed data */
    bool is_over;        /* no bytes follow buffer[end] */
    damage damage;       /* damage of the record at buffer[begin] */
    mst_failure failure; /* an error of reading; reported when the bytes before it are used up */
};

static size_t available(const mst_tfrecord_reader *r) {
    return r->end - r->begin;
}

static mst_status no_memory(const mst_tfrecord_reader *r, uint64_t size) {
    return MST_NO_MEMORY("for a record of %llu bytes of '%s'", (unsigned long long)size, r->bytes.name);
}

static void read_more(mst_tfrecord_reader *r) {
    size_t got, want = r->capacity - r->end;
    mst_status status;
    if (r->stream)
        status = mst_stream_read(r->stream, r->buffer + r->end, want, &got);
    else
        status = mst_bytes_read(&r->bytes, r->offset + available(r), r->buffer + r->end, want, &got);
    mst_failure_keep(&r->failure, status);
    r->end += got;
    r->is_over = status || got < want;
}

/* Makes SIZE bytes available, fewer only at the end. A damaged length may be huge. So the buffer is filled before it
 * grows, and at most doubles each time. */
static mst_status need(mst_tfrecord_reader *r, size_t size) {
    while (available(r) < size && !r->is_over) {
        if (r->begin) memmove(r->buffer, r->buffer + r->begin, available(r));
        r->end -= r->begin;
        r->begin = 0;
        if (r->end == r->capacity) {
            size_t capacity = r->capacity > SIZE_MAX / 2 || 2 * r->capacity > size ? size : 2 * r->capacity;
            uint8_t *buffer = realloc(r->buffer, capacity + 1);
            if (!buffer) return no_memory(r, size);
            r->buffer = buffer;
            r->capacity = capacity;
        }
        read_more(r);
    }
    return MST_OK;
}

static void consume(mst_tfrecord_reader *r, size_t size) {
    r->begin += size;
    r->offset += size;
}

static mst_status tfrecord_corrupt(mst_tfrecord_reader *r, damage which, const char *what) {
    r->damage = which;
    return mst_tfrecord_corrupt(r->bytes.name, r->offset, r->stream ? " of the decompressed data" : "", what);
}

/* The error of an incomplete record: the error of reading if there was one, else that the file ends too early. */
static mst_status ended(mst_tfrecord_reader *r) {
    if (!r->failure.code) return tfrecord_corrupt(r, OF_LENGTH, "the file ends within it");
    r->damage = OF_STREAM;
    return mst_failure_restore(&r->failure);
}

static const char length_is_wrong[] = "the check sum of its length is wrong";
static const char data_is_wrong[] = "the check sum of its data is wrong";

/* Reads the length of the next record; *SIZE is SIZE_MAX at the end. */
static mst_status next_length(mst_tfrecord_reader *r, size_t *size) {
    uint64_t length;
    MST_TRY(need(r, MST_TFRECORD_HEADER));
    *size = SIZE_MAX;
    if (!available(r) && !r->failure.code) return MST_OK;
    if (available(r) < MST_TFRECORD_HEADER) return ended(r);
    if (!mst_tfrecord_length(r->buffer + r->begin, &length)) return tfrecord_corrupt(r, OF_LENGTH, length_is_wrong);
    if (length > SIZE_MAX / 2 - MST_TFRECORD_FRAME) return tfrecord_corrupt(r, OF_LENGTH, "its length is impossible");
    if (!r->stream &&
        (r->bytes.size - r->offset < MST_TFRECORD_FRAME || length > r->bytes.size - r->offset - MST_TFRECORD_FRAME))
        return ended(r);
    *size = (size_t)length;
    return MST_OK;
}

mst_status mst_tfrecord_reader_next(mst_tfrecord_reader *reader, mst_record *record) {
    if (MST_IS_NULL(reader) || MST_IS_NULL(record)) return MST_INVALID;
    mst_tfrecord_reader *r = reader;
    size_t size;
    *record = (mst_record){.offset = r->offset};
    MST_TRY(next_length(r, &size));
    if (size == SIZE_MAX) return MST_OK;
    MST_TRY(need(r, size + MST_TFRECORD_FRAME));
    if (available(r) < size + MST_TFRECORD_FRAME) return ended(r);
    const uint8_t *data = r->buffer + r->begin + MST_TFRECORD_HEADER;
    if (!mst_tfrecord_is_intact(data, size)) return tfrecord_corrupt(r, OF_DATA, data_is_wrong);
    record->data = data;
    record->size = size;
    consume(r, size + MST_TFRECORD_FRAME);
    return MST_OK;
}

/* Skips COUNT bytes; fewer only at the end. */
static mst_status pass(mst_tfrecord_reader *r, size_t count) {
    if (!r->stream && count > available(r)) {
        r->offset += count;
        r->begin = r->end = 0;
        return MST_OK;
    }
    while (count > available(r) && (available(r) || !r->is_over)) {
        count -= available(r);
        consume(r, available(r));
        MST_TRY(need(r, 1));
    }
    consume(r, count < available(r) ? count : available(r));
    return MST_OK;
}

mst_status mst_tfrecord_reader_skip(mst_tfrecord_reader *reader, int64_t n, int64_t *skipped) {
    if (MST_IS_NULL(reader) || MST_IS_NULL(skipped)) return MST_INVALID;
    for (*skipped = 0; *skipped < n; ++*skipped) {
        size_t size;
        const uint64_t offset = reader->offset;
        MST_TRY(next_length(reader, &size));
        if (size == SIZE_MAX) return MST_OK;
        MST_TRY(pass(reader, size + MST_TFRECORD_FRAME));
        if (reader->offset - offset < size + MST_TFRECORD_FRAME) return ended(reader);
    }
    return MST_OK;
}

mst_status mst_tfrecord_reader_recover(mst_tfrecord_reader *reader) {
    if (MST_IS_NULL(reader)) return MST_INVALID;
    mst_tfrecord_reader *r = reader;
    uint64_t length;
    const damage damage = r->damage;
    r->damage = NO_DAMAGE;
    if (damage == OF_STREAM) {
        consume(r, available(r));
        r->failure.code = MST_OK;
    }
    if (damage == OF_DATA) {
        mst_tfrecord_length(r->buffer + r->begin, &length);
        consume(r, (size_t)length + MST_TFRECORD_FRAME);
    }
    while (damage == OF_LENGTH) {
        if (available(r)) consume(r, 1);
        MST_TRY(need(r, MST_TFRECORD_HEADER));
        if (available(r) < MST_TFRECORD_HEADER) consume(r, available(r));
        if (!available(r) || mst_tfrecord_length(r->buffer + r->begin, &length)) break;
    }
    return MST_OK;
}

/* Finds out how the file is compressed. A plain file whose first length is 0x8b1f or 0x9c78 begins like a gzip or zlib
 * file. So a file that begins with a length and its right checksum is taken as plain. */
static mst_status find_compression(mst_tfrecord_reader *r) {
    uint8_t head[MST_TFRECORD_HEADER];
    uint64_t length;
    size_t got;
    MST_TRY(mst_bytes_read(&r->bytes, 0, head, sizeof head, &got));
    if (got < 2 || (got == sizeof head && mst_tfrecord_length(head, &length))) return MST_OK;
    if (head[0] == 0x1f && head[1] == 0x8b) r->compression = MST_TFRECORD_GZIP;
    if (head[0] == 0x78 && (head[0] * 256 + head[1]) % 31 == 0) r->compression = MST_TFRECORD_ZLIB;
    return MST_OK;
}

static mst_status tfrecord_start(mst_tfrecord_reader *r) {
    MST_TRY(find_compression(r));
    r->capacity = CHUNK;
    if (!r->stream && r->compression == MST_TFRECORD_PLAIN && r->bytes.size < CHUNK)
        r->capacity = (size_t)r->bytes.size + 1;
    if (!(r->buffer = malloc(r->capacity))) return no_memory(r, r->capacity);
    if (r->compression == MST_TFRECORD_PLAIN) return MST_OK;
    return mst_stream_create(&r->bytes, 0, r->bytes.size,
                             r->compression == MST_TFRECORD_GZIP ? MST_STREAM_GZIP : MST_STREAM_ZLIB, &r->stream);
}

static mst_status open_reader(const char *name, const void *data, size_t size, mst_tfrecord_reader **out) {
    mst_tfrecord_reader *r = *out = calloc(1, sizeof *r);
    if (!r) return MST_NO_MEMORY("for reading '%s'", name);
    mst_status status = data ? mst_bytes_of_memory(name, data, size, &r->bytes) : mst_bytes_open(name, &r->bytes);
    if (!status) status = tfrecord_start(r);
    if (!status) return MST_OK;
    mst_tfrecord_reader_close(r);
    *out = NULL;
    return status;
}

mst_status mst_tfrecord_reader_open(const char *path, mst_tfrecord_reader **out) {
    if (MST_IS_NULL(path) || MST_IS_NULL(out)) return MST_INVALID;
    return open_reader(path, NULL, 0, out);
}

mst_status mst_tfrecord_reader_parse(const char *name, const void *data, size_t size, mst_tfrecord_reader **out) {
    return open_reader(name, size ? data : "", size, out);
}

void mst_tfrecord_reader_close(mst_tfrecord_reader *reader) {
    if (!reader) return;
    mst_stream_destroy(reader->stream);
    mst_bytes_close(&reader->bytes);
    free(reader->buffer);
    free(reader);
}

mst_tfrecord_compression mst_tfrecord_reader_compression(const mst_tfrecord_reader *reader) {
    return MST_IS_NULL(reader) ? MST_TFRECORD_PLAIN : reader->compression;
}

const char *mst_tfrecord_reader_name(const mst_tfrecord_reader *reader) {
    return reader->bytes.name;
}

uint64_t mst_tfrecord_reader_offset(const mst_tfrecord_reader *reader) {
    return reader->offset;
}
