/** The format TFRecord: framing, and records by their number.
 *
 *      8 bytes   length of the data, little-endian
 *      4 bytes   masked CRC-32C of these 8 bytes
 *      length    data
 *      4 bytes   masked CRC-32C of the data
 *
 *  and so on to the end of the file, without a header. The mask of a CRC c is rotate_right(c, 15) + 0xa282ead8.
 *
 *  Source: tensorflow/core/lib/io/record_writer.cc, tensorflow/core/lib/hash/crc32c.h.
 */
#ifndef MUSTER_FORMAT_TFRECORD_H
#define MUSTER_FORMAT_TFRECORD_H

#include <stdbool.h>

#include "format/record_index.h"
#include "muster/tfrecord.h"

enum { MST_TFRECORD_HEADER = 12, MST_TFRECORD_FOOTER = 4, MST_TFRECORD_FRAME = 16 };

/** The masked CRC-32C of SIZE bytes. */
uint32_t mst_masked_crc(const void *data, size_t size);
/** Makes the bytes that precede and follow the SIZE bytes of DATA in a file. */
void mst_tfrecord_frame(const void *data, size_t size, uint8_t header[MST_TFRECORD_HEADER],
                        uint8_t footer[MST_TFRECORD_FOOTER]);
/** Reads the length in HEADER; false if its checksum is wrong. */
bool mst_tfrecord_length(const uint8_t header[MST_TFRECORD_HEADER], uint64_t *length);
/** Whether the 4 bytes after the SIZE bytes at DATA are their checksum. */
bool mst_tfrecord_is_intact(const uint8_t *data, size_t size);

/** A reader of SIZE bytes at DATA, which the caller keeps until mst_tfrecord_reader_close; NAME stands for the path in
 *  messages. */
MST_CHECKED mst_status mst_tfrecord_reader_parse(const char *name, const void *data, size_t size,
                                                 mst_tfrecord_reader **out);
const char *mst_tfrecord_reader_name(const mst_tfrecord_reader *reader);
/** The offset of the next record, in the file or in the decompressed data. */
uint64_t mst_tfrecord_reader_offset(const mst_tfrecord_reader *reader);

/** Finds the places of the records in the plain file at PATH. With CHECK, all data is read and checked too, and up to
 *  MOST_CORRUPT damaged places are skipped. Fails as the reader does. Close OUT also after a failure. */
MST_CHECKED mst_status mst_tfrecord_index_open(const char *path, bool check, int64_t most_corrupt,
                                               mst_record_index *out);

/** The error for a damaged record of the file NAME. WHERE is "" or " of the decompressed data". */
MST_CHECKED mst_status mst_tfrecord_corrupt(const char *name, uint64_t offset, const char *where, const char *what);

#endif
