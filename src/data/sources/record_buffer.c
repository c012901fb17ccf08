/* Keeps the bytes that were read last from a record file, since the next records are often among them. */
#include "data/sources/record_buffer.h"

#include <stdlib.h>

#include "base/no_memory.h"

mst_status mst_record_buffer_fill(mst_record_buffer *buffer, const mst_bytes *bytes, int64_t file, uint64_t begin,
                                  uint64_t end, bool *is_whole) {
    const size_t size = (size_t)(end - begin);
    size_t got;
    *is_whole = false;
    buffer->begin = buffer->end = 0;
    if (size > buffer->capacity || !buffer->data) {
        uint8_t *data = realloc(buffer->data, size + 1); /* never 0 bytes */
        if (!data) return MST_NO_MEMORY("for %zu bytes of '%s'", size, bytes->name);
        buffer->data = data;
        buffer->capacity = size;
    }
    MST_TRY(mst_bytes_read(bytes, begin, buffer->data, size, &got));
    *is_whole = got == size;
    if (!*is_whole) return MST_OK;
    buffer->file = file;
    buffer->begin = begin;
    buffer->end = end;
    return MST_OK;
}

void mst_record_buffer_free(mst_record_buffer *buffer) {
    free(buffer->data);
    *buffer = (mst_record_buffer){0};
}
