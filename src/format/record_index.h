/** Where the records of a plain file are, so that each can be read by its number. */
#ifndef MUSTER_FORMAT_RECORD_INDEX_H
#define MUSTER_FORMAT_RECORD_INDEX_H

#include "format/byte_source.h"

typedef struct mst_record_place {
    uint64_t offset; /**< in the file: of the frame, where the format has one */
    uint64_t size;   /**< of the data */
} mst_record_place;

typedef struct mst_record_index {
    mst_bytes bytes;
    mst_record_place *place; /**< 16 bytes for each record */
    int64_t count, capacity;
    int64_t num_corrupt; /**< records left out */
} mst_record_index;

/** Opens the file at PATH, with no records yet. Close it also after a failure. */
MST_CHECKED mst_status mst_record_index_open(const char *path, mst_record_index *out);
MST_CHECKED mst_status mst_record_index_add(mst_record_index *index, uint64_t offset, uint64_t size);
void mst_record_index_close(mst_record_index *index);

#endif
