/* Writes TFRecord files, plain or compressed as a whole. */
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "format/tfrecord.h"

enum { BUFFER_SIZE = 256 * 1024, LEVEL = 1 };

/* The compressor has 32-bit counters. */
static const size_t most_at_once = (size_t)1 << 30;

struct mst_tfrecord_writer {
    mst_file file;
    bool committed;
    mst_status failed; /* error of an earlier call */
    size_t used;
    uint8_t *buffer; /* bytes that are not yet in the file */
    bool compressed;
    struct isal_zstream deflate;
    uint8_t *level_memory;
};

static mst_status open_writer(mst_tfrecord_writer *w, const char *path, mst_tfrecord_compression compression) {
    MST_TRY(mst_file_create(path, &w->file));
    if (!(w->buffer = malloc(BUFFER_SIZE))) return MST_NO_MEMORY("for writing '%s'", path);
    w->compressed = compression != MST_TFRECORD_PLAIN;
    if (!w->compressed) return MST_OK;
    if (!(w->level_memory = malloc(ISAL_DEF_LVL1_DEFAULT))) return MST_NO_MEMORY("for writing '%s'", path);
    isal_deflate_init(&w->deflate);
    w->deflate.gzip_flag = compression == MST_TFRECORD_GZIP ? IGZIP_GZIP : IGZIP_ZLIB;
    w->deflate.level = LEVEL;
    w->deflate.level_buf = w->level_memory;
    w->deflate.level_buf_size = ISAL_DEF_LVL1_DEFAULT;
    return MST_OK;
}

mst_status mst_tfrecord_writer_open(const char *path, mst_tfrecord_compression compression, mst_tfrecord_writer **out) {
    if (MST_IS_NULL(path) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    if (compression < MST_TFRECORD_PLAIN || compression > MST_TFRECORD_ZLIB)
        return MST_FAIL(MST_INVALID, "'%s': there is no compression %d", path, (int)compression);
    mst_tfrecord_writer *w = calloc(1, sizeof *w);
    if (!w) return MST_NO_MEMORY("for writing '%s'", path);
    w->file.descriptor = -1;
    mst_status status = open_writer(w, path, compression);
    if (status)
        mst_tfrecord_writer_close(w);
    else
        *out = w;
    return status;
}

static mst_status flush(mst_tfrecord_writer *w) {
    const size_t used = w->used;
    w->used = 0;
    return used ? mst_file_append(&w->file, w->buffer, used) : MST_OK;
}

/* Compresses all input in next_in. END: this is the last input, and the compressor also writes what it held back. */
static mst_status deflate(mst_tfrecord_writer *w, bool end) {
    w->deflate.end_of_stream = end;
    for (;;) {
        w->deflate.next_out = w->buffer + w->used;
        w->deflate.avail_out = (uint32_t)(BUFFER_SIZE - w->used);
        if (isal_deflate(&w->deflate) != COMP_OK) return MST_FAIL(MST_INTERNAL, "tfrecord: compression failed");
        w->used = BUFFER_SIZE - w->deflate.avail_out;
        const bool full = w->deflate.avail_out == 0;
        if (full) MST_TRY(flush(w));
        if (end ? w->deflate.internal_state.state == ZSTATE_END : !full && !w->deflate.avail_in) return MST_OK;
    }
}

static mst_status tfrecord_write_put(mst_tfrecord_writer *w, const uint8_t *data, size_t size) {
    while (w->compressed && size) {
        const size_t part = size < most_at_once ? size : most_at_once;
        w->deflate.next_in = (uint8_t *)(uintptr_t)data;
        w->deflate.avail_in = (uint32_t)part;
        MST_TRY(deflate(w, false));
        data += part;
        size -= part;
    }
    if (size > BUFFER_SIZE - w->used) MST_TRY(flush(w));
    if (size > BUFFER_SIZE) return mst_file_append(&w->file, data, size);
    if (size) memcpy(w->buffer + w->used, data, size);
    w->used += size;
    return MST_OK;
}

static mst_status put_record(mst_tfrecord_writer *w, const void *data, size_t size) {
    uint8_t header[MST_TFRECORD_HEADER], footer[MST_TFRECORD_FOOTER];
    mst_tfrecord_frame(data, size, header, footer);
    MST_TRY(tfrecord_write_put(w, header, sizeof header));
    MST_TRY(tfrecord_write_put(w, data, size));
    return tfrecord_write_put(w, footer, sizeof footer);
}

static mst_status check_open(const mst_tfrecord_writer *w) {
    if (w->committed) return MST_FAIL(MST_INVALID, "tfrecord: the file is committed, nothing can be added");
    if (w->failed) return MST_FAIL(w->failed, "tfrecord: an earlier write to this file failed");
    return MST_OK;
}

mst_status mst_tfrecord_writer_add(mst_tfrecord_writer *writer, const void *data, size_t size) {
    if (MST_IS_NULL(writer) || (size && MST_IS_NULL(data))) return MST_INVALID;
    MST_TRY(check_open(writer));
    return writer->failed = put_record(writer, size ? data : "", size);
}

mst_status mst_tfrecord_writer_commit(mst_tfrecord_writer *writer) {
    if (MST_IS_NULL(writer)) return MST_INVALID;
    MST_TRY(check_open(writer));
    mst_status status = writer->compressed ? deflate(writer, true) : MST_OK;
    if (!status) status = flush(writer);
    if (!status) status = mst_file_commit(&writer->file);
    writer->failed = status;
    writer->committed = !status;
    return status;
}

void mst_tfrecord_writer_close(mst_tfrecord_writer *writer) {
    if (!writer) return;
    mst_file_abandon(&writer->file);
    free(writer->buffer);
    free(writer->level_memory);
    free(writer);
}
