/* The places of the records of a plain file. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "format/tfrecord.h"

enum { FIRST_CAPACITY = 1024 };

typedef struct places {
    mst_tfrecord_index *index;
    int64_t capacity;
} places;

static mst_status add(places *p, uint64_t offset, uint64_t size) {
    mst_tfrecord_index *index = p->index;
    if (index->count == p->capacity) {
        const int64_t capacity = p->capacity ? 2 * p->capacity : FIRST_CAPACITY;
        mst_record_place *place = realloc(index->place, (size_t)capacity * sizeof *place);
        if (!place) return MST_NO_MEMORY("for the index of '%s'", index->bytes.name);
        index->place = place;
        p->capacity = capacity;
    }
    index->place[index->count++] = (mst_record_place){offset, size};
    return MST_OK;
}

/* Reads everything; *IS_OVER at the end of the file. */
static mst_status add_checked(places *p, mst_tfrecord_reader *reader, int64_t most_corrupt, bool *is_over) {
    mst_record record;
    mst_status status = mst_tfrecord_reader_next(reader, &record);
    if (status == MST_CORRUPT && p->index->num_corrupt < most_corrupt) {
        p->index->num_corrupt++;
        return mst_tfrecord_reader_recover(reader);
    }
    MST_TRY(status);
    *is_over = !record.data;
    return *is_over ? MST_OK : add(p, record.offset, record.size);
}

static mst_status build(mst_tfrecord_reader *reader, bool check, int64_t most_corrupt, mst_tfrecord_index *out) {
    places p = {out, 0};
    bool is_over = false;
    while (check && !is_over) MST_TRY(add_checked(&p, reader, most_corrupt, &is_over));
    while (!is_over) {
        int64_t skipped;
        const uint64_t offset = mst_tfrecord_reader_offset(reader);
        MST_TRY(mst_tfrecord_reader_skip(reader, 1, &skipped));
        is_over = !skipped;
        if (skipped) MST_TRY(add(&p, offset, mst_tfrecord_reader_offset(reader) - offset - MST_TFRECORD_FRAME));
    }
    return MST_OK;
}

mst_status mst_tfrecord_index_open(const char *path, bool check, int64_t most_corrupt, mst_tfrecord_index *out) {
    mst_tfrecord_reader *reader;
    *out = (mst_tfrecord_index){.bytes.fd = -1};
    MST_TRY(mst_bytes_open(path, &out->bytes));
    MST_TRY(mst_tfrecord_reader_open(path, &reader));
    mst_status status = MST_OK;
    if (mst_tfrecord_reader_compression(reader) != MST_TFRECORD_PLAIN)
        status = MST_FAIL(MST_INVALID, "'%s': is compressed: its records can only be read in their order", path);
    if (!status) status = build(reader, check, most_corrupt, out);
    mst_tfrecord_reader_close(reader);
    return status;
}

void mst_tfrecord_index_close(mst_tfrecord_index *index) {
    mst_bytes_close(&index->bytes);
    free(index->place);
    *index = (mst_tfrecord_index){.bytes.fd = -1};
}
