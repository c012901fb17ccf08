/* Finds the places of the records in a plain file. */
#include "format/tfrecord.h"

/* Reads and checks the next record, and adds its place. Up to MOST_CORRUPT damaged records of the file are skipped;
 * after that, a damaged record is an error. *IS_OVER is set at the end of the file. */
static mst_status add_checked(mst_record_index *index, mst_tfrecord_reader *reader, int64_t most_corrupt,
                              bool *is_over) {
    mst_record record;
    mst_status status = mst_tfrecord_reader_next(reader, &record);
    if (status == MST_CORRUPT && index->num_corrupt < most_corrupt) {
        index->num_corrupt++;
        return mst_tfrecord_reader_recover(reader);
    }
    MST_TRY(status);
    *is_over = !record.data;
    return *is_over ? MST_OK : mst_record_index_add(index, record.offset, record.size);
}

static mst_status tfrecord_index_build(mst_tfrecord_reader *reader, bool check, int64_t most_corrupt,
                                       mst_record_index *out) {
    bool is_over = false;
    while (check && !is_over) MST_TRY(add_checked(out, reader, most_corrupt, &is_over));
    while (!is_over) {
        int64_t skipped;
        const uint64_t offset = mst_tfrecord_reader_offset(reader);
        MST_TRY(mst_tfrecord_reader_skip(reader, 1, &skipped));
        is_over = !skipped;
        if (is_over) break;
        const uint64_t end = mst_tfrecord_reader_offset(reader);
        MST_TRY(mst_record_index_add(out, offset, end - offset - MST_TFRECORD_FRAME));
    }
    return MST_OK;
}

mst_status mst_tfrecord_index_open(const char *path, bool check, int64_t most_corrupt, mst_record_index *out) {
    mst_tfrecord_reader *reader;
    MST_TRY(mst_record_index_open(path, out));
    MST_TRY(mst_tfrecord_reader_open(path, &reader));
    mst_status status = MST_OK;
    if (mst_tfrecord_reader_compression(reader) != MST_TFRECORD_PLAIN)
        status = MST_FAIL(MST_INVALID, "'%s': is compressed: its records can only be read in their order", path);
    if (!status) status = tfrecord_index_build(reader, check, most_corrupt, out);
    mst_tfrecord_reader_close(reader);
    return status;
}
