#include "format/stream.h"

#include <isa-l/igzip_lib.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/no_memory.h"

enum { CHUNK_SIZE = 256 * 1024, GZIP_MAGIC = 0x1f };

/* The decompressor has 32-bit counters. */
static const size_t most_at_once = (size_t)1 << 30;

struct mst_stream {
    const mst_bytes *bytes;
    uint64_t offset; /* where the file is read next */
    uint64_t end;    /* where the part to read ends in the file */
    mst_stream_kind kind;
    bool finished;
    struct inflate_state inflate;
    uint8_t *chunk;
};

static uint32_t crc_flag(mst_stream_kind kind) {
    if (kind == MST_STREAM_DEFLATE) return ISAL_DEFLATE;
    return kind == MST_STREAM_GZIP ? ISAL_GZIP : ISAL_ZLIB;
}

mst_status mst_stream_create(const mst_bytes *bytes, uint64_t offset, uint64_t size, mst_stream_kind kind,
                             mst_stream **out) {
    mst_stream *s = *out = calloc(1, sizeof *s);
    if (!s) return MST_NO_MEMORY("to read '%s'", bytes->name);
    s->bytes = bytes;
    s->offset = offset;
    s->end = offset + size;
    s->kind = kind;
    if (kind == MST_STREAM_PLAIN) return MST_OK;
    if (!(s->chunk = malloc(CHUNK_SIZE))) return MST_NO_MEMORY("to read '%s'", bytes->name);
    isal_inflate_init(&s->inflate);
    s->inflate.crc_flag = crc_flag(kind);
    return MST_OK;
}

void mst_stream_destroy(mst_stream *stream) {
    if (!stream) return;
    free(stream->chunk);
    free(stream);
}

uint64_t mst_stream_offset(const mst_stream *stream) {
    return stream->offset - stream->inflate.avail_in;
}

static mst_status stream_corrupt(const mst_stream *s, const char *what) {
    return MST_FAIL(MST_CORRUPT, "'%s': %s at byte %llu: the file is damaged or incomplete, get it again",
                    s->bytes->name, what, (unsigned long long)mst_stream_offset(s));
}

static const char *inflate_error(mst_stream_kind kind, int code) {
    if (kind == MST_STREAM_ZLIB && code == ISAL_INVALID_WRAPPER) return "the zlib header is invalid";
    switch (code) {
        case ISAL_INCORRECT_CHECKSUM:
            return kind == MST_STREAM_ZLIB ? "the zlib check sum does not match the data"
                                           : "the gzip check sum or length does not match the data";
        case ISAL_INVALID_WRAPPER: return "a gzip header is expected, other bytes are found";
        case ISAL_UNSUPPORTED_METHOD: return "the gzip header names a compression method other than deflate";
        default: return "the compressed data is invalid";
    }
}

/* Reads input for the decompressor, if it has none left and the part of the file has not been read to its end. */
static mst_status stream_fill(mst_stream *s) {
    if (s->inflate.avail_in || s->offset == s->end) return MST_OK;
    uint64_t left = s->end - s->offset;
    size_t got, want = left < CHUNK_SIZE ? (size_t)left : CHUNK_SIZE;
    MST_TRY(mst_bytes_read(s->bytes, s->offset, s->chunk, want, &got));
    s->offset += got;
    if (got < want) s->end = s->offset;
    s->inflate.next_in = s->chunk;
    s->inflate.avail_in = (uint32_t)got;
    return MST_OK;
}

/* Called at the end of compressed data. Another gzip member may follow, which is decompressed next. Other bytes after
 * the data are an error. */
static mst_status next_member(mst_stream *s) {
    MST_TRY(stream_fill(s));
    s->finished = s->inflate.avail_in == 0;
    if (s->finished) return MST_OK;
    if (s->kind != MST_STREAM_GZIP) return stream_corrupt(s, "the compressed data ends, and other bytes follow");
    if (*s->inflate.next_in != GZIP_MAGIC) return stream_corrupt(s, "the gzip data ends, and other bytes follow");
    isal_inflate_reset(&s->inflate);
    s->inflate.crc_flag = ISAL_GZIP;
    return MST_OK;
}

static mst_status inflate(mst_stream *s, uint8_t *dst, size_t size, size_t *got) {
    while (*got < size && !s->finished) {
        MST_TRY(stream_fill(s));
        uint32_t had_in = s->inflate.avail_in;
        uint32_t had_out = (uint32_t)(size - *got < most_at_once ? size - *got : most_at_once);
        s->inflate.next_out = dst + *got;
        s->inflate.avail_out = had_out;
        int code = isal_inflate(&s->inflate);
        *got += had_out - s->inflate.avail_out;
        if (code < 0) return stream_corrupt(s, inflate_error(s->kind, code));
        if (s->inflate.block_state == ISAL_BLOCK_FINISH)
            MST_TRY(next_member(s));
        else if (s->inflate.avail_in == had_in && s->inflate.avail_out == had_out)
            return stream_corrupt(s, "the compressed data is cut off");
    }
    return MST_OK;
}

mst_status mst_stream_read(mst_stream *stream, void *dst, size_t size, size_t *got) {
    *got = 0;
    if (stream->kind != MST_STREAM_PLAIN) return inflate(stream, dst, size, got);
    uint64_t left = stream->end - stream->offset;
    MST_TRY(mst_bytes_read(stream->bytes, stream->offset, dst, left < size ? (size_t)left : size, got));
    stream->offset += *got;
    return MST_OK;
}
