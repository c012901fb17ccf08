/** The places of the records in a plain file, so that each can be read by its number. */
#ifndef MUSTER_FORMAT_RECORD_INDEX_H
#define MUSTER_FORMAT_RECORD_INDEX_H

#include "format/byte_source.h"

typedef struct mst_record_place {
    uint64_t offset; /**< byte of the file at which the record begins, with its frame if it has one */
    uint64_t size;   /**< size of the data */
} mst_record_place;

typedef struct mst_record_index {
    mst_bytes bytes;
    mst_record_place *place; /**< [count] 16 bytes per record */
    int64_t count, capacity;
    int64_t num_corrupt; /**< damaged records that were skipped */
} mst_record_index;

/** Opens the file at PATH, with no records yet. Close OUT also after a failure. */
MST_CHECKED mst_status mst_record_index_open(const char *path, mst_record_index *out);
MST_CHECKED mst_status mst_record_index_add(mst_record_index *index, uint64_t offset, uint64_t size);
void mst_record_index_close(mst_record_index *index);

#endif
