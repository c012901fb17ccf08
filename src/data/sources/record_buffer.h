/** The bytes of a file of records that one caller has read last: neighbouring records are often in them already. */
#ifndef MUSTER_DATA_SOURCES_RECORD_BUFFER_H
#define MUSTER_DATA_SOURCES_RECORD_BUFFER_H

#include <stdbool.h>

#include "format/byte_source.h"

/** Zero-initialised is empty. */
typedef struct mst_record_buffer {
    uint8_t *data;
    size_t capacity;
    int64_t file;        /**< which of the source's files */
    uint64_t begin, end; /**< of the file; nothing is there if they are the same */
} mst_record_buffer;

/** Reads bytes BEGIN to END - 1 of FILE, whose bytes are BYTES. *IS_WHOLE: it has them all; else BUFFER has none. */
MST_CHECKED mst_status mst_record_buffer_fill(mst_record_buffer *buffer, const mst_bytes *bytes, int64_t file,
                                              uint64_t begin, uint64_t end, bool *is_whole);
void mst_record_buffer_free(mst_record_buffer *buffer);

#endif
