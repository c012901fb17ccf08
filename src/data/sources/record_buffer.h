/** Keeps the bytes that a caller has read last from a record file. A whole range is read at once, so the next records
 *  are often among them, and need no call of the system. */
#ifndef MUSTER_DATA_SOURCES_RECORD_BUFFER_H
#define MUSTER_DATA_SOURCES_RECORD_BUFFER_H

#include <stdbool.h>

#include "format/byte_source.h"

/** Zero-initialised is empty. */
typedef struct mst_record_buffer {
    uint8_t *data;
    size_t capacity;
    int64_t file;        /**< index of the file in the source */
    uint64_t begin, end; /**< range of bytes of the file; equal if the buffer is empty */
} mst_record_buffer;

/** Reads bytes BEGIN to END - 1 of file number FILE, which BYTES reads. *IS_WHOLE: it has all of them; if not, BUFFER
 *  is empty afterwards. */
MST_CHECKED mst_status mst_record_buffer_fill(mst_record_buffer *buffer, const mst_bytes *bytes, int64_t file,
                                              uint64_t begin, uint64_t end, bool *is_whole);
void mst_record_buffer_free(mst_record_buffer *buffer);

#endif
