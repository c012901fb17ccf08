/** TFRecord, TensorFlow's files of records: bytes with a length and two check sums.
 *
 *      mst_tfrecord_writer *writer;
 *      MST_TRY(mst_tfrecord_writer_open("a.tfrecord", MST_TFRECORD_PLAIN, &writer));
 *      mst_status status = mst_tfrecord_writer_add(writer, "abc", 3);
 *      if (!status) status = mst_tfrecord_writer_commit(writer);
 *      mst_tfrecord_writer_close(writer);
 *
 *      mst_tfrecord_reader *reader;
 *      mst_record record;
 *      MST_TRY(mst_tfrecord_reader_open("a.tfrecord", &reader));
 *      while (!(status = mst_tfrecord_reader_next(reader, &record)) && record.data) use(record.data, record.size);
 *      mst_tfrecord_reader_close(reader);
 *
 *  Files are plain, or compressed as a whole with gzip or zlib; which of these is detected by the first bytes.
 */
#ifndef MUSTER_TFRECORD_H
#define MUSTER_TFRECORD_H

#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mst_tfrecord_compression {
    MST_TFRECORD_PLAIN = 0,
    MST_TFRECORD_GZIP,
    MST_TFRECORD_ZLIB
} mst_tfrecord_compression;

typedef struct mst_record {
    const void *data; /**< NULL at the end of the file */
    size_t size;
    uint64_t offset; /**< of the record in the file, or in the decompressed data */
} mst_record;

typedef struct mst_tfrecord_reader mst_tfrecord_reader;
typedef struct mst_tfrecord_writer mst_tfrecord_writer;

/** Opens the file at PATH. *OUT is NULL on failure: MST_NOT_FOUND, MST_IO or MST_INVALID if it is not a file that
 *  can be read. An empty file has no records. */
MST_API MST_CHECKED mst_status mst_tfrecord_reader_open(const char *path, mst_tfrecord_reader **out);
/** NULL is allowed. */
MST_API void mst_tfrecord_reader_close(mst_tfrecord_reader *reader);
MST_API mst_tfrecord_compression mst_tfrecord_reader_compression(const mst_tfrecord_reader *reader);

/** The next record, valid until the next call. Fails with MST_CORRUPT, naming the file and the byte, if a check sum is
 *  wrong or the file ends within a record. Further calls fail in the same way until mst_tfrecord_reader_recover. Memory
 *  grows with what is read, whatever length a damaged file claims. */
MST_API MST_CHECKED mst_status mst_tfrecord_reader_next(mst_tfrecord_reader *reader, mst_record *record);
/** Skips N records. *SKIPPED is the number of skipped records, less than N only at the end of the file. The check sums
 *  of their data are not checked. */
MST_API MST_CHECKED mst_status mst_tfrecord_reader_skip(mst_tfrecord_reader *reader, int64_t n, int64_t *skipped);
/** After MST_CORRUPT: moves to the next place after the damage at which a length has the right check sum. Moves to the
 *  end of the file if there is no such place, or if the damage is in compressed data. */
MST_API MST_CHECKED mst_status mst_tfrecord_reader_recover(mst_tfrecord_reader *reader);

/** Begins the file that will be at PATH. It is written under a temporary name: PATH does not change before the
 *  commit. */
MST_API MST_CHECKED mst_status mst_tfrecord_writer_open(const char *path, mst_tfrecord_compression compression,
                                                        mst_tfrecord_writer **out);
/** Adds a record of SIZE bytes, which may be 0. Fails with MST_IO if it cannot be written. */
MST_API MST_CHECKED mst_status mst_tfrecord_writer_add(mst_tfrecord_writer *writer, const void *data, size_t size);
/** Writes what is left, syncs, and renames the file to its path. Nothing can be added afterwards. */
MST_API MST_CHECKED mst_status mst_tfrecord_writer_commit(mst_tfrecord_writer *writer);
/** Frees the writer; if the file was not committed, it is deleted. NULL is allowed. */
MST_API void mst_tfrecord_writer_close(mst_tfrecord_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
