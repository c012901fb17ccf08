#include "format/record_index.h"

#include <stdlib.h>

#include "base/arena.h"

mst_status mst_record_index_open(const char *path, mst_record_index *out) {
    *out = (mst_record_index){.bytes.fd = -1};
    return mst_bytes_open(path, &out->bytes);
}

mst_status mst_record_index_add(mst_record_index *index, uint64_t offset, uint64_t size) {
    if (mst_grow(&index->place, sizeof *index->place, index->count + 1, &index->capacity))
        return mst_error_prefix("the index of '%s'", index->bytes.name);
    index->place[index->count++] = (mst_record_place){offset, size};
    return MST_OK;
}

void mst_record_index_close(mst_record_index *index) {
    mst_bytes_close(&index->bytes);
    free(index->place);
    *index = (mst_record_index){.bytes.fd = -1};
}
